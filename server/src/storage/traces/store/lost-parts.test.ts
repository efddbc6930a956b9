/** What of an embedded store counts as lost. */
import { mkdtemp, rm, truncate } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { openTraces } from "../open-traces.ts"

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-lost-parts-"))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const location = () => ({ clickhouseUrl: null, folder: path.join(folder, "traces") })

/** A table with two rows, whose parts were just merged. Returns the folders of the parts by their names. */
async function mergedParts(): Promise<Map<string, string>> {
  const traces = await openTraces(location())
  await traces.command("create table merged (x Int64) engine MergeTree order by x")
  for (const x of [1, 2]) await traces.command(`insert into merged values (${x})`)
  await traces.command("optimize table merged final")
  const parts = await traces.rows<{ name: string; path: string }>(
    "select name, path from system.parts where table = 'merged' order by name",
  )
  await traces.close()
  expect(parts.map(({ name }) => name)).toEqual(["all_1_1_0", "all_1_2_1", "all_2_2_0"])
  return new Map(parts.map((part) => [part.name, part.path]))
}

async function damage(parts: Map<string, string>, names: readonly string[]): Promise<void> {
  for (const name of names) await truncate(path.join(parts.get(name) ?? "", "data.bin"), 5)
}

test.each([
  ["those that were merged", ["all_1_1_0", "all_2_2_0"]],
  ["the one that they were merged into", ["all_1_2_1"]],
])("damage to parts whose rows are all in others is no loss: %s", async (_, names) => {
  await damage(await mergedParts(), names)
  // Parts that are not needed any more are looked at after the start, so that the next one finds what became of them.
  for (let start = 0; start < 2; start++) {
    const traces = await openTraces(location())
    expect(await traces.rows("select x from merged order by x")).toEqual([{ x: "1" }, { x: "2" }])
    await traces.close()
  }
})

test("rows that are in no other part are lost", async () => {
  await damage(await mergedParts(), ["all_1_1_0", "all_1_2_1"])
  await expect(openTraces(location())).rejects.toThrow("rows of merged cannot be read")
})
