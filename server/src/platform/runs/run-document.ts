/** Config and summary of a run: kept as the client wrote them, and beside that as values that PostgreSQL can compare. */
import { HeddleError } from "../../errors.ts"
import { membersOf, objectText } from "../../json/json-members.ts"
import { JsonCursor } from "../../json/json-cursor.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { countValues } from "../../json/value-count.ts"
import type { RunDocument } from "../../storage/catalog/runs/runs.ts"
import { storableJson } from "../../storage/catalog/storable-text.ts"
import { plainTask } from "../../threads/thread-task.ts"
import type { RunDependencies } from "./run-dependencies.ts"

/** @throws {HeddleError} `bad_request` for what is no JSON object, `payload_too_large` for one of too many values. */
export function runDocument(name: string, text: string, mostValues: number): RunDocument {
  if (countValues(text) > mostValues) throw tooManyValues(name, mostValues)
  const cursor = new JsonCursor(text)
  if (cursor.kind() !== "object") throw new HeddleError("bad_request", `${name} is not a JSON object`)
  cursor.value()
  cursor.end()
  return { text, values: storableJson(JSON.stringify(JSON.parse(withoutNotFinite(text)))) }
}

/** The members of `text` in place of those of their names in `stored`: several processes write one run. */
export function mergedDocument(name: string, stored: string, text: string, mostValues: number): RunDocument {
  return runDocument(name, objectText(new Map([...membersOf(stored), ...membersOf(text)])), mostValues)
}

function tooManyValues(name: string, mostValues: number): HeddleError {
  return new HeddleError(
    "payload_too_large",
    `${name} has more than ${mostValues} values: numbers, texts, lists and objects. Log what is large with run.log, or save it as a file`,
  )
}

interface DocumentInput {
  name: string
  bytes: Buffer
  /** The document to merge with; empty: none. */
  stored: Buffer
  mostValues: number
}

export const runDocumentTask = plainTask({
  name: "run/document",
  ownThreadBytes: 128 * 1024,
  work: ({ name, bytes, stored, mostValues }: DocumentInput) => {
    const given = bytes.toString("utf8")
    const { text, values } =
      stored.length === 0
        ? runDocument(name, given, mostValues)
        : mergedDocument(name, stored.toString("utf8"), given, mostValues)
    return { text: Buffer.from(text), values: Buffer.from(values) }
  },
})

/** On a thread when it is large. `stored`: what it is merged with; null: it replaces what there is. */
export async function readRunDocument(
  { threads, limits }: Pick<RunDependencies, "threads" | "limits">,
  name: string,
  text: string,
  stored: string | null,
): Promise<RunDocument> {
  const mostValues = limits.run_document_values
  const input = { name, bytes: Buffer.from(text), stored: Buffer.from(stored ?? ""), mostValues }
  const bytes = input.bytes.length + input.stored.length
  const read = await threads.run(runDocumentTask, input, {
    bytes,
    answer: () => Promise.reject(new Error("no question")),
  })
  return { text: read.text.toString("utf8"), values: read.values.toString("utf8") }
}
