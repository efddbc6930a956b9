/** From the body of a `file_stream` request to the rows that are stored: platform-wandb 6. */
import { HeddleError } from "../../errors.ts"
import { check } from "../../http/validation.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { isJsonObject, tryParse } from "../../json/parsed-json.ts"
import { storedJson } from "../../storage/traces/stored-json.ts"
import { plainTask } from "../../threads/thread-task.ts"
import { fileStreamBody } from "../../wire/platform/run.ts"
import { columnsOf } from "./history-columns.ts"

/** Offset of a file's lines for an older client's process, which counts its own lines from 0: platform-wandb 6.2. */
export interface LineBase {
  base: number
  /** Decided by the first lines of the process; null: there were none yet. */
  shift: number | null
}

interface StreamInput {
  bytes: Buffer
  projectId: string
  runId: string
  segment: string
  console: LineBase
  events: LineBase
  mostRowBytes: number
}

export interface StreamResult {
  /** JSON Lines of `run_history` and of `run_lines`; empty: none. */
  history: Buffer
  lines: Buffer
  summary: Buffer | null
  consoleShift: number | null
  eventsShift: number | null
  preempting: boolean
  /** null: it does not end. */
  exitCode: number | null
}

type Place = Pick<StreamInput, "projectId" | "runId" | "segment" | "mostRowBytes">

/** @throws {HeddleError} 400 what is not of this form, 413 a row that is too large; then nothing is stored. */
export const fileStreamTask = plainTask({
  name: "run/file_stream",
  ownThreadBytes: 64 * 1024,
  work: (input: StreamInput): StreamResult => {
    const { files = {}, preempting, complete, exitcode } = readBody(input.bytes)
    const result: StreamResult = {
      history: Buffer.alloc(0),
      lines: Buffer.alloc(0),
      summary: null,
      consoleShift: null,
      eventsShift: null,
      preempting: preempting === true,
      // 32 bits with a sign: the upper half of what Windows has are the negative codes that its tools show.
      exitCode: complete === true ? (exitcode ?? 0) | 0 : null,
    }
    const lines: string[][] = []
    for (const [name, { offset, content }] of Object.entries(files)) {
      if (content.length === 0) continue
      checkRows(name, offset, content, input.mostRowBytes)
      if (name === "wandb-summary.json") result.summary = Buffer.from(content.at(-1) ?? "{}")
      else if (name === "wandb-history.jsonl") result.history = historyLines(input, offset, content)
      else if (name === "wandb-events.jsonl") {
        result.eventsShift = shiftOf(input.events, offset)
        lines.push(runLines(input, "events", offset + result.eventsShift, content))
      } else if (/^output(?:_.*)?\.log$/s.test(name)) {
        result.consoleShift = shiftOf(input.console, offset)
        lines.push(runLines(input, "console", offset + result.consoleShift, content))
      }
    }
    result.lines = Buffer.from(lines.flat().join("\n"))
    return result
  },
})

function readBody(bytes: Buffer) {
  const text = bytes.toString("utf8")
  let value: unknown
  try {
    value = text.trim() === "" ? {} : JSON.parse(text)
  } catch (cause) {
    throw new HeddleError("bad_request", `the request body is not JSON: ${(cause as Error).message}`, { cause })
  }
  const { data, fault } = check(fileStreamBody, value, "body")
  if (fault !== null) throw new HeddleError("bad_request", `file_stream: ${fault}`)
  return data
}

function checkRows(name: string, offset: number, content: readonly string[], most: number): void {
  const at = content.findIndex((row) => row.length * 3 > most && Buffer.byteLength(row) > most)
  if (at === -1) return
  const bytes = Buffer.byteLength(content[at] ?? "")
  const message = `row ${offset + at} of ${name} has ${bytes} bytes; a row may have ${most}. Log large values as files`
  throw new HeddleError("payload_too_large", message)
}

function shiftOf({ base, shift }: LineBase, offset: number): number {
  return shift ?? (offset < base ? base : 0)
}

function runLines({ projectId, runId, segment }: Place, file: string, first: number, content: readonly string[]) {
  return content.map((text, index) =>
    storedJson({ project_id: projectId, run_id: runId, file, segment, line: first + index, text }),
  )
}

function historyLines({ projectId, runId, segment }: Place, offset: number, content: readonly string[]): Buffer {
  const lines = content.map((text, index) => {
    const line = offset + index
    const row = readRow(text, line)
    const { names, types } = columnsOf(row)
    const step = Number.isSafeInteger(row["_step"]) ? row["_step"] : line
    return storedJson({ project_id: projectId, run_id: runId, step, segment, line, text, keys: names, types })
  })
  return Buffer.from(lines.join("\n"))
}

function readRow(text: string, line: number): Record<string, unknown> {
  const row = tryParse(text) ?? tryParse(withoutNotFinite(text, () => "0"))
  if (isJsonObject(row)) return row
  throw new HeddleError("bad_request", `row ${line} of wandb-history.jsonl is not a JSON object`)
}
