/**
 * Makes an empty embedded catalog, with its tables, for the set-up to keep.
 *
 * Usage: node scripts/make-catalog-template.ts FOLDER
 * Changes: FOLDER, which appears whole or not at all.
 */
import { rename, rm } from "node:fs/promises"
import { openCatalog } from "../server/src/storage/catalog/open-catalog.ts"

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error("usage: make-catalog-template.ts FOLDER")
const unfinished = `${folder}.new`
await rm(unfinished, { recursive: true, force: true })
const catalog = await openCatalog({ postgresUrl: null, folder: unfinished, template: null })
await catalog.destroy()
await rename(unfinished, folder)
