/** Values of calls, held against the JSON Schema of a rule. */
import { batchesOf } from "../../objects/batches.ts"
import { findFaultInTime, findValueFault } from "../../objects/schemas/user-schemas.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"

/** Whether a value satisfies the schema, or why that cannot be said. */
export type SchemaVerdict = { fits: boolean } | { failure: string }

type Dependencies = Pick<ExecutionDependencies, "threads" | "limits">

/** Characters of the values of one check, whose time takes in their reading: so each has enough for what it is about. */
const mostCheckedCharacters = 256 * 1024

/**
 * A verdict for each value, in order. A text is taken for the JSON that it holds, as answers of models are, unless the schema
 * asks for a text.
 * @throws {HeddleError} the schema cannot be used, or takes too long with a value that is not large.
 */
export async function heldAgainst(
  dependencies: Dependencies,
  schema: Readonly<Record<string, unknown>>,
  values: readonly unknown[],
): Promise<SchemaVerdict[]> {
  const texts = values.map((value) => jsonOf(value, schema["type"] === "string"))
  const verdicts: SchemaVerdict[] = texts.map((text) => ({ fits: text !== null }))
  const check = new SchemaCheck(dependencies, schema, verdicts)
  const placed = texts.flatMap((text, place) => (text === null ? [] : [{ place, text }]))
  const limits = { count: Infinity, size: mostCheckedCharacters }
  for (const some of batchesOf(placed, limits, ({ text }) => text.length)) await check.hold(some)
  return verdicts
}

interface PlacedText {
  /** Of its value among all of them. */
  place: number
  text: string
}

class SchemaCheck {
  readonly #dependencies: Dependencies
  readonly #schema: { schema: string; name: string }
  readonly #verdicts: SchemaVerdict[]

  /** `verdicts`: of all values; those of values at fault are replaced. */
  constructor(dependencies: Dependencies, schema: object, verdicts: SchemaVerdict[]) {
    this.#dependencies = dependencies
    this.#schema = { schema: JSON.stringify(schema), name: "the schema of the rule" }
    this.#verdicts = verdicts
  }

  async hold(some: readonly PlacedText[]): Promise<void> {
    for (let left = some; left.length > 0;) {
      const texts = left.map(({ text }) => text)
      const fault = await findFaultInTime(this.#dependencies, this.#schema, texts)
      if (fault === null) return
      if (fault === "late") return this.#holdFewer(left)
      this.#verdicts[left[fault.index]?.place ?? 0] = { fits: false }
      left = left.slice(fault.index + 1)
    }
  }

  /** Those that took too long together. */
  async #holdFewer(some: readonly PlacedText[]): Promise<void> {
    const [first] = some
    if (first === undefined) return
    if (some.length > 1) {
      const half = Math.ceil(some.length / 2)
      await this.hold(some.slice(0, half))
      return this.hold(some.slice(half))
    }
    const { place, text } = first
    if (text.length > mostCheckedCharacters) {
      const { schema_work_ms: workMs } = this.#dependencies.limits
      const failure = `a value of ${text.length} characters takes more than ${workMs} ms to be held against the schema`
      this.#verdicts[place] = { failure }
      return
    }
    // One that is not large is not to blame: if it takes as long again, the schema does with whatever comes.
    this.#verdicts[place] = { fits: (await findValueFault(this.#dependencies, this.#schema, [text])) === null }
  }
}

/** null: there is none. */
function jsonOf(value: unknown, isText: boolean): string | null {
  if (value === undefined) return null
  if (typeof value !== "string" || isText) return JSON.stringify(value)
  try {
    JSON.parse(value)
    return value
  } catch {
    return null
  }
}
