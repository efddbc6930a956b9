/** What is wrong with one row of an SFT data file; of a large one it is found out on another thread than the server's own. */
import { isUtf8 } from "node:buffer"
import { parse } from "../../http/validation.ts"
import { maximumJsonDepth } from "../../json/json-text-error.ts"
import { isNestedDeeper } from "../../json/nesting.ts"
import { plainTask } from "../../threads/thread-task.ts"
import { sftRow } from "../../wire/training/sft-job.ts"

export const maximumRowBytes = 64 * 1024 * 1024

/** `blank`: it is no row. null: nothing is wrong. */
interface RowVerdict {
  fault: string | null
}

/** To parse a row of the largest size would hold up every other request. */
export const sftRowTask = plainTask<{ line: Uint8Array }, RowVerdict>({
  name: "sft-row",
  ownThreadBytes: 128 * 1024,
  work: ({ line }) => ({ fault: faultOfRow(Buffer.from(line.buffer, line.byteOffset, line.byteLength)) }),
})

export function faultOfRow(line: Buffer): string | null {
  if (line.length > maximumRowBytes) return `longer than ${maximumRowBytes} bytes`
  if (!isUtf8(line)) return "not UTF-8"
  // Editors put a mark in front of a file's first line, which is no part of its JSON.
  const text = line.toString("utf8").replace(/^\uFEFF/, "")
  if (text.trim() === "") return "blank"
  if (isNestedDeeper(text, maximumJsonDepth)) return `nested in more than ${maximumJsonDepth} levels`
  try {
    parse(sftRow, JSON.parse(text), "body")
    return null
  } catch (error) {
    const { message } = error as Error
    return error instanceof SyntaxError ? `not JSON: ${message}` : message.replace(/^body(?:\.|: )/, "")
  }
}
