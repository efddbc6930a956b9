/**
 * Writes the pages of docs that are printed from the code, the table of areas in ARCHITECTURE.md and their lint rules.
 * Usage: node scripts/generate-pages.ts. Tests compare the files with the code.
 */
import { readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { annotationStatesPage } from "../server/src/labelling/annotation/annotation-states-page.ts"
import { limitsPage } from "../server/src/limits-page.ts"
import { jobStatesPage } from "../server/src/scheduler/job-states-page.ts"
import { areaRows, importRules } from "./areas.ts"
import { clientsPage } from "./clients/clients-page.ts"

const root = path.resolve(import.meta.dirname, "..")
const docs = path.join(root, "docs")
await writeFile(path.join(docs, "reference/job-states.md"), jobStatesPage())
await writeFile(path.join(docs, "reference/annotation-states.md"), annotationStatesPage())
await writeFile(path.join(docs, "guide/limits.md"), limitsPage())
await writeFile(path.join(docs, "reference/clients.md"), clientsPage())

const architecture = path.join(root, "ARCHITECTURE.md")
const text = await readFile(architecture, "utf8")
await writeFile(architecture, text.replace(/(?:^\| `server\/src\/.*\n)+/m, areaRows()))
await writeFile(path.join(root, ".oxlint-imports.json"), `${JSON.stringify(importRules(), null, 2)}\n`)
