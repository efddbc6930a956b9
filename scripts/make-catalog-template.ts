/**
 * Makes an empty embedded catalog for the set-up to keep.
 *
 * Usage: node scripts/make-catalog-template.ts FOLDER
 * Changes: FOLDER, which appears whole or not at all.
 */
import { ensureCatalogFolder } from "../server/src/storage/catalog/catalog-folder.ts"

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error("usage: make-catalog-template.ts FOLDER")
await ensureCatalogFolder(folder, null)
