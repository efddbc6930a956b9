import { expect, test } from "vitest"
import { RunReads } from "./run-reads.ts"

test("law 8: once a document has asked for too much, none of its reads begins", async () => {
  const reads = new RunReads()
  let begun = 0
  const work = () => Promise.resolve(++begun)
  const answers = await Promise.allSettled(Array.from({ length: 450 }, () => reads.read(work)))
  expect(begun).toBe(0)
  expect(new Set(answers.map((answer) => answer.status === "rejected" && (answer.reason as Error).message))).toEqual(
    new Set(["the document reads what runs logged more than 400 times; ask for fewer runs or fields"]),
  )
})

test("reads of a document run one after the other, each with its own result", async () => {
  const reads = new RunReads()
  const running: string[] = []
  const read = (name: string) =>
    reads.read(async () => {
      running.push(`${name} begins`)
      await Promise.resolve()
      running.push(`${name} ends`)
      return name
    })
  expect(await Promise.all([read("a"), read("b")])).toEqual(["a", "b"])
  expect(running).toEqual(["a begins", "a ends", "b begins", "b ends"])
})
