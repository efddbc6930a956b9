import { expect, test } from "vitest"
import { readLines } from "./text-lines.ts"

function streamOf(...chunks: (string | Uint8Array<ArrayBuffer>)[]) {
  let isCancelled = false
  const bytes = chunks.map((chunk) => (typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk))
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      const next = bytes.shift()
      if (next === undefined) controller.close()
      else controller.enqueue(next)
    },
    cancel: () => void (isCancelled = true),
  })
  return { stream, isCancelled: () => isCancelled }
}

const linesOf = (...chunks: (string | Uint8Array<ArrayBuffer>)[]) =>
  Array.fromAsync(readLines(streamOf(...chunks).stream))

test.each([
  [["a\nb\n"], ["a", "b"]],
  [
    ["a", "b\nc", "\n", "d"],
    ["ab", "c", "d"],
  ],
  [["\n\na\n\n"], ["a"]],
  [[], []],
  [['{"t":"x\\ny"}\n'], ['{"t":"x\\ny"}']],
])("%j has the lines %j", async (chunks, lines) => expect(await linesOf(...chunks)).toEqual(lines))

test("a letter that two chunks share stays whole, and U+2028 ends no line", async () => {
  const bytes = new TextEncoder().encode("é\u2028🧵\n")
  expect(await linesOf(bytes.slice(0, 1), bytes.slice(1, 6), bytes.slice(6))).toEqual(["é\u2028🧵"])
})

test("who has read enough ends the stream", async () => {
  const { stream, isCancelled } = streamOf("a\nb\n", "c\n", "d\n", "e\n")
  for await (const line of readLines(stream)) if (line === "b") break
  await expect.poll(isCancelled).toBe(true)
})
