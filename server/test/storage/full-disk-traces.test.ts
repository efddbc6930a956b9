/** The embedded trace store on a disk that is full or nearly so: chDB does not notice that a write found no room. */
import { randomBytes } from "node:crypto"
import { glob, writeFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, expect, test } from "vitest"
import { openTraces } from "../../src/storage/traces/open-traces.ts"
import type { TraceStore } from "../../src/storage/traces/store/trace-store.ts"
import { fillDisk, mountDisk, unmountDisk } from "../support/small-disk.ts"

const disk = mountDisk(128)
afterAll(() => {
  if (disk !== null) unmountDisk(disk)
})
const location = { clickhouseUrl: null, folder: path.join(disk ?? "", "traces") }

const mebibyte = 1024 ** 2
const full = { code: "insufficient_storage" }
const project_id = "00000000-0000-0000-0000-000000000001"

const insert = (traces: TraceStore, id: string, created_by = "") =>
  traces.insert("token_prices", JSON.stringify({ project_id, id, created_by }))

async function idsIn(traces: TraceStore): Promise<string[]> {
  return (await traces.rows<{ id: string }>("select id from token_prices final order by id")).map(({ id }) => id)
}

async function idsOnceReopened(): Promise<string[]> {
  const traces = await openTraces(location)
  const ids = await idsIn(traces)
  await traces.close()
  return ids
}

test.skipIf(disk === null)(
  "law 1: rows that are acknowledged on a nearly full disk are there after a restart",
  async () => {
    const traces = await openTraces(location)
    const acknowledged: string[] = []
    // About as much as one insert takes, which cannot be compressed: with so much left, its last files find no room.
    for (let pages = 484; pages < 500; pages++) {
      const makeRoom = await fillDisk(disk as string, pages * 4096)
      const id = `p${pages}`
      await insert(traces, id, randomBytes(1_500_000).toString("base64")).then(
        () => acknowledged.push(id),
        (error: unknown) => expect(error).toMatchObject(full),
      )
      await makeRoom()
    }
    await insert(traces, "q")
    await traces.close()
    expect(await idsOnceReopened()).toEqual([...acknowledged, "q"])
  },
)

test.skipIf(disk === null)(
  "what a full disk refuses to delete or define leaves a store that opens, with all its rows",
  async () => {
    const traces = await openTraces(location)
    const before = await idsIn(traces)
    const makeRoom = await fillDisk(disk as string)
    for (const statement of [
      `alter table token_prices delete where id = 'q'`,
      `delete from token_prices where id = 'q'`,
      "alter table token_prices add column later UInt8",
      "create table later (a UInt8) engine = MergeTree order by a",
    ]) {
      await expect(traces.command(statement)).rejects.toMatchObject(full)
    }
    await traces.close()
    await makeRoom()
    expect(await idsOnceReopened()).toEqual(before)
  },
)

test.skipIf(disk === null)("merges wait while little room is left, inserts go on", async () => {
  const traces = await openTraces(location)
  const merge = () =>
    traces.command("optimize table token_prices final").then(
      () => "merged",
      () => "stopped",
    )
  const makeRoom = await fillDisk(disk as string, 20 * mebibyte)
  await expect.poll(merge, { timeout: 10_000 }).toBe("stopped")
  await insert(traces, "r")
  expect(await idsIn(traces)).toContain("r")
  await makeRoom()
  await expect.poll(merge, { timeout: 10_000 }).toBe("merged")
  await traces.close()
})

test.skipIf(disk === null)("a store opens over a mutation that found no room", async () => {
  const before = await idsOnceReopened()
  for await (const table of glob(path.join(location.folder, "store/*/*/format_version.txt"))) {
    await writeFile(path.join(path.dirname(table), "mutation_99.txt"), "")
  }
  expect(await idsOnceReopened()).toEqual(before)
})
