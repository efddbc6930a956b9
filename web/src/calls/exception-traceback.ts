/** The way to an exception, as Python prints it. */
import { exceptionLine } from "./call-names.ts"

interface SentFrame {
  filename?: unknown
  line_number?: unknown
  function_name?: unknown
  text?: unknown
}

/** Of what the Weave SDKs write as JSON; another client's text is as it came. */
export function tracebackText(exception: string): string {
  const frames = framesOf(exception)
  if (frames === null) return exception
  const lines = frames.flatMap(({ filename, line_number, function_name, text }) => [
    `  File "${String(filename)}", line ${String(line_number)}, in ${String(function_name)}`,
    ...(typeof text === "string" && text !== "" ? [`    ${text}`] : []),
  ])
  return [...lines, exceptionLine(exception)].join("\n")
}

/** Of its text those before the one that says what happened, which may take several lines itself. */
export function linesOnTheWay(exception: string): number {
  return lineCount(tracebackText(exception).trim()) - lineCount(exceptionLine(exception).trim())
}

const lineCount = (text: string) => text.split("\n").length

/** null: it is not written by a Weave SDK. */
function framesOf(exception: string): SentFrame[] | null {
  try {
    const sent = JSON.parse(exception) as { message?: unknown; traceback?: unknown } | null
    if (typeof sent?.message !== "string") return null
    return Array.isArray(sent.traceback) ? sent.traceback.map((frame: SentFrame | null) => frame ?? {}) : []
  } catch {
    return null
  }
}
