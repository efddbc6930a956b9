/** Calls of a part of a file, as the rows that `calls/complete` and `call/start` store: evaluation-store-calls 2. */
import type { ValidationIssue } from "../../errors.ts"
import { JsonScanner } from "../../json/json-scanner.ts"
import type { CallBatch } from "../../storage/traces/calls/insert/call-batch.ts"
import { exportedCallColumns } from "../../storage/traces/transfer/print-calls.ts"
import { plainTask } from "../../threads/thread-task.ts"
import { type CallBody, refuseInternalRefs, refuseIssues } from "../../calls/write/call-body.ts"
import { callFields, type CallForm, fieldAt } from "../../calls/write/call-fields.ts"
import { type CallItem, readCallItem } from "../../calls/write/call-item.ts"
import { checkCall } from "../../calls/write/call-rules.ts"
import { CallRows } from "../../calls/write/call-rows.ts"
import { batchRows, recordCells } from "./batch-rows.ts"
import { RowFailures } from "./import-report.ts"
import { type ImportTarget, inProject } from "./import-target.ts"
import { RowError } from "./imported-row.ts"
import type { ImportedBatch, RowBatch } from "./row-batch.ts"

export interface CallsImport extends ImportedBatch, CallBatch {
  count: number
}

const cells = recordCells(exportedCallColumns)
const parquetRowsAtOnce = 8192

export const importCallsTask = plainTask({
  name: "import/calls",
  ownThreadBytes: 64 * 1024,
  work: async ({ target, ...batch }: RowBatch & { target: ImportTarget }): Promise<CallsImport> => {
    const { rows, end } = await batchRows(batch, cells, parquetRowsAtOnce)
    const failed = new RowFailures()
    const calls = new CallImport(target)
    failed.read(rows, ({ text }) => calls.add(text))
    return { ...calls.rows(), count: calls.count, failed: failed.toPlain(), end }
  },
})

class CallImport {
  readonly #target: ImportTarget
  readonly #texts: Buffer[] = []
  readonly #items: CallItem[] = []
  #holdsNotFinite = false
  bytes = 0

  constructor(target: ImportTarget) {
    this.#target = target
  }

  get count(): number {
    return this.#items.length
  }

  /** @throws {HeddleError | JsonTextError | RowError} */
  add(text: string): void {
    const bytes = Buffer.from(inProject(text, this.#target))
    const scanner = new JsonScanner(bytes)
    const item = readCall(scanner, bytes)
    checkCall(item)
    refuseInternalRefs(bytes)
    // Shifts the fields' offsets to the batch's buffer.
    item.spans.forEach((at, index) => at > 0 && (item.spans[index] = at + this.bytes))
    this.#holdsNotFinite ||= scanner.sawNotFinite
    this.#texts.push(bytes)
    this.#items.push(item)
    this.bytes += bytes.length
  }

  rows() {
    const { project, keepUsers } = this.#target
    const body: CallBody = {
      bytes: Buffer.concat(this.#texts),
      items: this.#items,
      holdsNotFinite: this.#holdsNotFinite,
    }
    const rows = new CallRows(body)
    for (const item of this.#items) {
      const userId = (keepUsers ? userOf(item) : undefined) ?? project.userId
      const id = item.values[fieldAt.id] as string
      rows.add(item, { projectId: project.id, userId }, { id, trace_id: item.values[fieldAt.traceId] as string })
    }
    return rows.batch()
  }
}

/** A call that has not ended has only what it started with. */
function readCall(scanner: JsonScanner, bytes: Buffer): CallItem {
  const issues: ValidationIssue[] = []
  const ended = read(scanner, "complete", issues)
  if (issues.length === 0) return ended
  if (!issues.some(({ loc }) => loc.at(-1) === "ended_at")) return refuse(issues)
  const startIssues: ValidationIssue[] = []
  const started = read(new JsonScanner(bytes), "start", startIssues)
  const isTimeless = ended.spans[2 * endedAt] === 0 || bytes[ended.spans[2 * endedAt] as number] === letterN
  if (!isTimeless) return refuse(issues)
  for (const name of ["id", "trace_id"] as const) {
    if (started.values[fieldAt[name === "id" ? "id" : "traceId"]] === undefined) {
      throw new RowError("is missing", name)
    }
  }
  return startIssues.length === 0 ? started : refuse(startIssues)
}

const letterN = 0x6e
const endedAt = callFields.complete.findIndex(({ name }) => name === "ended_at")

function read(scanner: JsonScanner, form: CallForm, issues: ValidationIssue[]): CallItem {
  const item = readCallItem(scanner, form, ["row"], issues)
  scanner.end()
  return item
}

function refuse(issues: readonly ValidationIssue[]): never {
  refuseIssues(issues)
  throw new Error("there are issues")
}

function userOf({ form, values }: CallItem): string | undefined {
  return values[callFields[form].findIndex(({ name }) => name === "wb_user_id")]
}
