/**
 * Keys of services outside, which the operator keeps in a file. Each is bound to the origins it may be
 * sent to: whoever changes a provider's address does not get the key sent there (security 5.2).
 */
import { readFile, stat } from "node:fs/promises"
import { z } from "zod"
import { HeddleError } from "../../errors.ts"

const secretSchema = z.strictObject({
  value: z.string().regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces"),
  /** As `https://api.example.com`: scheme, host, and the port when it is not the usual one. */
  origins: z.array(z.url()).min(1),
  /** Teams that may use it; absent: all. */
  entities: z.array(z.string()).optional(),
})
const fileSchema = z.record(z.string().min(1), secretSchema)

export type ProviderSecrets = ReadonlyMap<string, z.output<typeof secretSchema>>

/** `file` null: no secrets. @throws {Error} with a sentence for the operator when it cannot be used. */
export async function loadProviderSecrets(file: string | null): Promise<ProviderSecrets> {
  if (file === null) return new Map()
  try {
    await checkMode(file)
    const secrets = fileSchema.parse(JSON.parse(await readFile(file, "utf8")))
    const entries = Object.entries(secrets).map(([name, secret]) => {
      return [name, { ...secret, origins: secret.origins.map((origin) => new URL(origin).origin) }] as const
    })
    return new Map(entries)
  } catch (cause) {
    throw unusable(file, cause)
  }
}

const groupBits = 0o077
const othersBits = 0o007

/**
 * A file of this user's is closed to everybody else. One that somebody else put there for the server, as containers have
 * their secrets from root, must be readable through a group at times, and is closed to others.
 */
async function checkMode(file: string): Promise<void> {
  const { mode, uid } = await stat(file)
  if ((mode & (uid === process.getuid?.() ? groupBits : othersBits)) === 0) return
  const octal = (mode & 0o777).toString(8).padStart(4, "0")
  throw new Error(`other users of this machine can read it (mode ${octal}). Close it: chmod 600 ${file}`)
}

/** At the log level debug a failed start prints the cause too, so it may not quote the file either. */
function unusable(file: string, cause: unknown): Error {
  const message = `the secrets that HEDDLE_SECRETS names, ${file}, cannot be used: ${reasonOf(cause)}`
  return new Error(message, cause instanceof SyntaxError ? {} : { cause })
}

/** For a JSON error this says only that the file is not JSON: the error's own message would quote the secret. */
function reasonOf(cause: unknown): string {
  if (cause instanceof z.ZodError) return z.prettifyError(cause)
  return cause instanceof SyntaxError ? "it is not JSON" : (cause as Error).message
}

/** Names only, and no key of another team. */
export function keysOfTeam(secrets: ProviderSecrets, entity: string): { name: string; origins: string[] }[] {
  return [...secrets]
    .filter(([, { entities }]) => entities?.includes(entity) ?? true)
    .map(([name, { origins }]) => ({ name, origins }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** @throws {HeddleError} `missing_api_key` (evaluation-store-calls 9). */
export function secretFor(secrets: ProviderSecrets, name: string, entity: string, origin: string): string {
  const secret = secrets.get(name)
  const isTeams = secret?.entities?.includes(entity) ?? true
  if (secret !== undefined && isTeams && secret.origins.includes(origin)) return secret.value
  // One text for all: a member must not learn which keys there are for others.
  const message =
    `there is no API key ${name} that the team ${entity} may send to ${origin}; ` +
    "the operator lists keys with their teams and origins in the file that HEDDLE_SECRETS names"
  throw new HeddleError("missing_api_key", message, { extras: { api_key: name } })
}
