/** Lookups in the stores by tasks on payloads. */
import { type ErrorCode, HeddleError } from "../../errors.ts"

/** Parameters and answer of each kind of lookup. */
interface Kinds {
  /**
   * Ids of the projects that the caller may write to, by `entity/project`. With `make` those that are not there are made;
   * else their id is null.
   */
  projects: { params: { names: readonly string[]; make: boolean }; answer: ReadonlyMap<string, string | null> }
  /** As `projects`, but one that the caller may not write to is answered with why. */
  owners: { params: { names: readonly string[]; make: boolean }; answer: ReadonlyMap<string, ProjectAnswer> }
  /**
   * The projects that refs name, those that are there and that the caller may see: internal ids by `entity/project`, and
   * `entity/project` by internal ids.
   */
  refs: {
    params: { names: readonly string[]; ids: readonly string[] }
    answer: { ids: ReadonlyMap<string, string>; names: ReadonlyMap<string, string> }
  }
  /** The digests of the rows of a table; null: there is no such table. */
  tableDigests: { params: { projectId: string; digest: string }; answer: readonly string[] | null }
  /** Whether a text that a user wrote is a JSON Schema, by which errors call it by `name`. */
  schema: { params: { name: string; schema: string }; answer: null }
}

export type ProjectAnswer = { id: string | null } | { code: ErrorCode; message: string }

/** The lookups of a table of kinds. */
export type LookupOf<Table extends LookupKinds<Table>> = {
  [K in keyof Table]: { kind: K } & Table[K]["params"]
}[keyof Table]

type LookupKinds<Table> = { [K in keyof Table]: { params: object; answer: unknown } }

type Kind = keyof Kinds

export type PayloadLookup = LookupOf<Kinds>

/** A lookup of the kind `K`. */
export type LookupFor<K extends Kind> = Extract<PayloadLookup, { kind: K }>
export type AnswerTo<K extends Kind> = Kinds[K]["answer"]

/** Yields a lookup and returns its answer, with the type that belongs to the kind. */
export const lookUp = lookups<Kinds>()

/** The same for another table of kinds. */
export function lookups<Table extends LookupKinds<Table>>() {
  return function* <K extends keyof Table>(
    kind: K,
    params: Table[K]["params"],
  ): Generator<LookupOf<Table>, Table[K]["answer"]> {
    return yield { kind, ...params }
  }
}

/** Ids of the projects with these names. Missing projects are made. */
export function* ensureProjectIds(names: Iterable<string>): Generator<PayloadLookup, ReadonlyMap<string, string>> {
  return (yield* lookUp("projects", { names: [...names], make: true })) as ReadonlyMap<string, string>
}

export function* ensureProjectId(name: string): Generator<PayloadLookup, string> {
  return (yield* ensureProjectIds([name])).get(name) as string
}

/** null: there is no such project, and the caller may make it. */
export function* findProjectId(name: string): Generator<PayloadLookup, string | null> {
  return (yield* lookUp("projects", { names: [name], make: false })).get(name) ?? null
}

/** @throws {HeddleError} `payload_too_large`. */
export function checkProjectCount(count: number, most: number): void {
  if (count <= most) return
  const message = `the request names ${count} projects; one may name ${most}. Send it in smaller parts`
  throw new HeddleError("payload_too_large", message)
}
