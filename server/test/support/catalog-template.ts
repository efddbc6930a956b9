/** Vitest's global set-up: a migrated catalog of each kind that tests copy, since making one takes seconds. */
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { openCatalog } from "../../src/storage/catalog/open-catalog.ts"
import { makePostgresTemplate } from "./postgres-database.ts"

const variable = "HEDDLE_TEST_CATALOG_TEMPLATE"
/** The set-up's own template, which need not be made; absent when the tests are started by vitest alone. */
const ready = process.env["HEDDLE_TEST_READY_CATALOG"] ?? null

export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-template-"))
  const catalog = await openCatalog({ postgresUrl: null, folder: path.join(folder, "catalog"), template: ready })
  await catalog.destroy()
  process.env[variable] = folder
  await makePostgresTemplate(async (postgresUrl) => {
    const made = await openCatalog({ postgresUrl, folder, template: null })
    await made.destroy()
  })
  return () => rm(folder, { recursive: true, force: true })
}

/** Puts a new, empty, migrated catalog into the data folder. */
export async function copyCatalogTemplate(dataDir: string): Promise<void> {
  const folder = process.env[variable]
  if (folder === undefined) throw new Error(`${variable} is not set: run the tests with vitest`)
  await cp(path.join(folder, "catalog"), path.join(dataDir, "catalog"), { recursive: true })
}
