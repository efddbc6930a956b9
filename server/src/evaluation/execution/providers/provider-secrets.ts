/**
 * Keys of services outside, which the operator keeps in a file. Each is bound to the origins it may be
 * sent to: whoever changes a provider's address does not get the key sent there (security 5.2).
 */
import { readFile } from "node:fs/promises"
import { z } from "zod"
import { HeddleError } from "../../../errors.ts"

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
    const secrets = fileSchema.parse(JSON.parse(await readFile(file, "utf8")))
    const entries = Object.entries(secrets).map(([name, secret]) => {
      return [name, { ...secret, origins: secret.origins.map((origin) => new URL(origin).origin) }] as const
    })
    return new Map(entries)
  } catch (cause) {
    throw unusable(file, cause)
  }
}

/** At the log level debug a failed start prints the cause too, so it may not quote the file either. */
function unusable(file: string, cause: unknown): Error {
  const message = `the secrets that HEDDLE_SECRETS names, ${file}, cannot be used: ${reasonOf(cause)}`
  return new Error(message, cause instanceof SyntaxError ? {} : { cause })
}

/** Of a JSON error only that it is one: its message would quote the file. */
function reasonOf(cause: unknown): string {
  if (cause instanceof z.ZodError) return z.prettifyError(cause)
  return cause instanceof SyntaxError ? "it is not JSON" : (cause as Error).message
}

/** @throws {HeddleError} `missing_api_key` (evaluation-store-calls 9). */
export function secretFor(secrets: ProviderSecrets, name: string, entity: string, origin: string): string {
  const secret = secrets.get(name)
  if (secret === undefined || (secret.entities !== undefined && !secret.entities.includes(entity))) {
    throw missing(
      name,
      `No API key ${name} for the team ${entity}; the operator adds it to the file that HEDDLE_SECRETS names`,
    )
  }
  if (!secret.origins.includes(origin)) {
    throw missing(name, `The API key ${name} may not be sent to ${origin}; the operator lists the origins of each key`)
  }
  return secret.value
}

function missing(name: string, message: string): HeddleError {
  return new HeddleError("missing_api_key", message, { extras: { api_key: name } })
}
