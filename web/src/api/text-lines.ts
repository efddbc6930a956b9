/** Lines of a stream of UTF-8 text. */

/** Without their ends; an empty line is left out. Leaving the loop early ends the stream. */
export async function* readLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  for await (const lines of readLineBatches(stream)) yield* lines
}

/** The lines of each part that comes, together: of 50,000 lines one after the other the waiting would take longer than the rest. */
export async function* readLineBatches(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string[]> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
  // Parts of a line that has not ended, joined once: a line may be 60 MB in a thousand parts.
  let parts: string[] = []
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const [first = "", ...others] = chunk.value.split("\n")
      parts.push(first)
      if (others.length === 0) continue
      const lines = [parts.join(""), ...others]
      parts = [lines.pop() ?? ""]
      yield lines.filter((line) => line !== "")
    }
    const last = parts.join("")
    if (last !== "") yield [last]
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
