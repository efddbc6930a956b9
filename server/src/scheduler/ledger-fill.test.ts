import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { mountDisk, unmountDisk } from "../../test/support/small-disk.ts"
import { fillLedger } from "./ledger-fill.ts"

/** A file of five long lines, each with a choice of its key, and where its filled copy goes. */
async function longLines() {
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-fill-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const message = { role: "assistant", content: "x".repeat(3 * 1024 * 1024) }
  const lines = ["a", "b", "c", "d", "e"].map((ledger_key) => {
    const choice = { message, finish_reason: "stop", ledger_key, ledger: null }
    return `${JSON.stringify({ group: 0, index: 0, reward: 1, histories: [{ items: [{ choice }], tools: null }] })}\n`
  })
  const data = { path: path.join(folder, "data.jsonl"), sha256: "of the data" }
  await writeFile(data.path, lines.join(""))
  return { folder, lines, data, output: path.join(folder, "filled.jsonl") }
}

test("law 8: of choices with a ledger key so many are looked up at once as fit in memory, however long they are", async () => {
  const { folder, data, output } = await longLines()
  const asked: string[][] = []
  const find = (keys: string[]) => {
    asked.push(keys)
    return Promise.resolve([])
  }
  expect(await fillLedger(data, output, find)).toEqual(data)
  expect(asked).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ])
  expect(await readdir(folder)).toEqual(["data.jsonl"])
})

test("law 8: while long lines are filled, the event loop has a turn after each", async () => {
  const { lines, data, output } = await longLines()
  let turn = 0
  let next = setImmediate(function count() {
    turn += 1
    next = setImmediate(count)
  })
  onTestFinished(() => clearImmediate(next))
  const { parse, stringify } = JSON
  const turns = { parse: [] as number[], stringify: [] as number[] }
  vi.spyOn(JSON, "parse").mockImplementation((text) => {
    turns.parse.push(turn)
    return parse(text) as unknown
  })
  vi.spyOn(JSON, "stringify").mockImplementation((value) => {
    turns.stringify.push(turn)
    return stringify(value)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const tokens = { prompt_token_ids: [1, 2], token_ids: [3], logprobs: [-0.5] }
  const find = (keys: string[]) => Promise.resolve(keys.map((ledger_key) => ({ ledger_key, ...tokens })))
  await fillLedger(data, output, find)
  expect(turns.parse).toHaveLength(5)
  expect(new Set(turns.parse).size).toBe(5)
  // A line that is printed waits for the disk, which may answer within the same turn as this counts them.
  const [first, , third] = turns.stringify
  expect([turns.stringify.length, third! > first!]).toEqual([5, true])
  const filled = lines.map((line) => line.replace('"ledger":null', `"ledger":${stringify(tokens)}`))
  expect((await readFile(output, "utf8")) === filled.join("")).toBe(true)
})

const disk = mountDisk(1)

test.skipIf(disk === null)(
  "a disk that fills within the last write is told, and what is there of the data gets no name",
  async () => {
    const folder = disk as string
    onTestFinished(() => unmountDisk(folder))
    const { lines, data } = await longLines()
    await writeFile(data.path, lines[0]!)
    const tokens = { prompt_token_ids: [1, 2], token_ids: [3], logprobs: [-0.5] }
    const find = (keys: string[]) => Promise.resolve(keys.map((ledger_key) => ({ ledger_key, ...tokens })))
    await expect(fillLedger(data, path.join(folder, "filled.jsonl"), find)).rejects.toMatchObject({ code: "ENOSPC" })
    expect(await readdir(folder)).toEqual(["filled.jsonl.partial"])
  },
)
