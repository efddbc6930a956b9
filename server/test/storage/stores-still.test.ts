/** While a backup takes the stores, nothing is written to them; what is asked for meanwhile waits, and is stored then. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { whileCatalogIsStill } from "../../src/storage/catalog/catalog-stillness.ts"
import { type CatalogDatabase, openCatalog } from "../../src/storage/catalog/open-catalog.ts"
import { openTraces } from "../../src/storage/traces/open-traces.ts"
import { EmbeddedTraces } from "../../src/storage/traces/store/embedded-traces.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"

let folder: string
beforeAll(async () => (folder = await mkdtemp(path.join(tmpdir(), "heddle-still-"))))
afterAll(() => rm(folder, { recursive: true, force: true }))

test("an insert that comes while parts are frozen is stored after them, and in no copy", async () => {
  const traces = await openTraces({ clickhouseUrl: null, folder: path.join(folder, "traces") })
  if (!(traces instanceof EmbeddedTraces)) throw new Error("not in this process")
  try {
    await traces.command("create table still (n Int64) engine = MergeTree order by n")
    await traces.insert("still", '{"n":1}')
    const order: string[] = []
    await traces.snapshot(path.join(folder, "copy"), async (freeze) => {
      const frozen = freeze().then(() => order.push("frozen"))
      const inserted = traces.insert("still", '{"n":2}').then(() => order.push("inserted"))
      await Promise.all([frozen, inserted])
    })
    expect(order).toEqual(["frozen", "inserted"])
    expect(await traces.rows("select n from still order by n")).toEqual([{ n: "1" }, { n: "2" }])
  } finally {
    await traces.close()
  }
  const copy = await openTraces({ clickhouseUrl: null, folder: path.join(folder, "copy") })
  try {
    expect(await copy.rows("select n from still")).toEqual([{ n: "1" }])
  } finally {
    await copy.close()
  }
})

test("a statement that comes while the catalog is still is done after that", async () => {
  await copyCatalogTemplate(folder)
  const catalog: CatalogDatabase = await openCatalog({
    postgresUrl: null,
    folder: path.join(folder, "catalog"),
    template: null,
  })
  try {
    const order: string[] = []
    let written: Promise<unknown> = Promise.resolve()
    await whileCatalogIsStill(catalog, async () => {
      const insert = catalog.insertInto("entities").values({ name: "late" }).execute()
      written = insert.then(() => order.push("written"))
      for (let turns = 0; turns < 100; turns++) await nextTurn()
      order.push("still")
    })
    await written
    expect(order).toEqual(["still", "written"])
  } finally {
    await catalog.destroy()
  }
})
