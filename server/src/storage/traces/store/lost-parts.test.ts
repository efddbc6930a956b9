/** What of an embedded store counts as lost. */
import { mkdtemp, rm, truncate } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { connectTraces, openTraces } from "../open-traces.ts"
import { requireNoLostParts } from "./lost-parts.ts"
import type { TraceStore } from "./trace-store.ts"

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-lost-parts-"))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const location = () => ({ clickhouseUrl: null, folder: path.join(folder, "traces") })

async function using(opening: Promise<TraceStore>, use: (traces: TraceStore) => Promise<void>): Promise<void> {
  const traces = await opening
  try {
    await use(traces)
  } finally {
    await traces.close()
  }
}

/** A store that was closed, with a table whose rows were inserted one by one. Returns the folders of its parts by their names. */
async function partsOf(rows: readonly number[], { isMerged }: { isMerged: boolean }): Promise<Map<string, string>> {
  const parts = new Map<string, string>()
  await using(openTraces(location()), async (traces) => {
    await traces.command("create table counted (x Int64) engine MergeTree order by x")
    for (const x of rows) await traces.command(`insert into counted values (${x})`)
    if (isMerged) await traces.command("optimize table counted final")
    const found = await traces.rows<{ name: string; path: string }>(
      "select name, path from system.parts where table = 'counted' order by name",
    )
    for (const part of found) parts.set(part.name, part.path)
  })
  return parts
}

async function damage(parts: Map<string, string>, names: readonly string[]): Promise<void> {
  for (const name of names) await truncate(path.join(parts.get(name) ?? "", "data.bin"), 5)
}

const lost = "rows of counted cannot be read"

test.each([
  ["those that were merged", ["all_1_1_0", "all_2_2_0"]],
  ["the one that they were merged into", ["all_1_2_1"]],
])("damage to parts whose rows are all in others is no loss: %s", async (_, names) => {
  await damage(await partsOf([1, 2], { isMerged: true }), names)
  // Parts that are not needed any more are looked at after the start, so that the next one finds what became of them.
  for (let start = 0; start < 2; start++) {
    await using(openTraces(location()), async (traces) => {
      expect(await traces.rows("select x from counted order by x")).toEqual([{ x: "1" }, { x: "2" }])
    })
  }
  // Nor is it when its rows were deleted since, and with them the parts that had them.
  await using(openTraces(location()), (traces) => traces.command("truncate table counted"))
  await using(openTraces(location()), async (traces) => {
    expect(await traces.rows("select x from counted")).toEqual([])
  })
})

test("rows that are in no other part are lost", async () => {
  await damage(await partsOf([1, 2], { isMerged: true }), ["all_1_1_0", "all_1_2_1"])
  await expect(openTraces(location())).rejects.toThrow(lost)
})

test("rows are lost, though the parts on either side of theirs are merged, at the same start or after it", async () => {
  await damage(await partsOf([1, 2, 3], { isMerged: false }), ["all_2_2_0"])
  const openedAt = Date.now()
  await using(connectTraces(location()), async (traces) => {
    await traces.command("optimize table counted final")
    expect(await traces.rows("select name from system.parts where table = 'counted' and active")).toEqual([
      { name: "all_1_3_1" },
    ])
    await expect(requireNoLostParts(traces, location().folder, openedAt)).rejects.toThrow(lost)
  })
  await expect(openTraces(location())).rejects.toThrow(lost)
})
