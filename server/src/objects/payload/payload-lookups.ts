/** Questions of tasks on payloads to the stores. */
import { type ErrorCode, HeddleError } from "../../errors.ts"

/** By kind, what is asked and how it is answered. */
interface Kinds {
  /**
   * Ids of the projects that the caller may write to, by `entity/project`. With `make` those that are not there are made;
   * else their id is null.
   */
  projects: { asked: { names: readonly string[]; make: boolean }; answer: ReadonlyMap<string, string | null> }
  /** As `projects`, but one that the caller may not write to is answered with why. */
  owners: { asked: { names: readonly string[]; make: boolean }; answer: ReadonlyMap<string, ProjectAnswer> }
  /**
   * The projects that refs name, those that are there and that the caller may see: internal ids by `entity/project`, and
   * `entity/project` by internal ids.
   */
  refs: {
    asked: { names: readonly string[]; ids: readonly string[] }
    answer: { ids: ReadonlyMap<string, string>; names: ReadonlyMap<string, string> }
  }
  /** The digests of the rows of a table; null: there is no such table. */
  tableDigests: { asked: { projectId: string; digest: string }; answer: readonly string[] | null }
  /** Whether a text that a user wrote is a JSON Schema, by which errors call it by `name`. */
  schema: { asked: { name: string; schema: string }; answer: null }
}

export type ProjectAnswer = { id: string | null } | { code: ErrorCode; message: string }

/** The questions of a table of kinds. */
export type QuestionOf<Table extends QuestionKinds<Table>> = {
  [K in keyof Table]: { kind: K } & Table[K]["asked"]
}[keyof Table]

type QuestionKinds<Table> = { [K in keyof Table]: { asked: object; answer: unknown } }

type Kind = keyof Kinds

export type PayloadQuestion = QuestionOf<Kinds>

/** A question of the kind `K`. */
export type Asked<K extends Kind> = Extract<PayloadQuestion, { kind: K }>
export type AnswerTo<K extends Kind> = Kinds[K]["answer"]

/** Asks a question; it knows the type of each answer. */
export const ask = asking<Kinds>()

/** The same for another table of kinds. */
export function asking<Table extends QuestionKinds<Table>>() {
  return function* <K extends keyof Table>(
    kind: K,
    asked: Table[K]["asked"],
  ): Generator<QuestionOf<Table>, Table[K]["answer"]> {
    return yield { kind, ...asked }
  }
}

/** The ids of projects that are made when they are not there. */
export function* madeProjects(names: Iterable<string>): Generator<PayloadQuestion, ReadonlyMap<string, string>> {
  return (yield* ask("projects", { names: [...names], make: true })) as ReadonlyMap<string, string>
}

export function* madeProject(name: string): Generator<PayloadQuestion, string> {
  return (yield* madeProjects([name])).get(name) as string
}

/** null: it is not there, and the caller may make it. */
export function* foundProject(name: string): Generator<PayloadQuestion, string | null> {
  return (yield* ask("projects", { names: [name], make: false })).get(name) ?? null
}

/** @throws {HeddleError} `payload_too_large`. */
export function checkProjectCount(count: number, most: number): void {
  if (count <= most) return
  const message = `the request names ${count} projects; one may name ${most}. Send it in smaller parts`
  throw new HeddleError("payload_too_large", message)
}
