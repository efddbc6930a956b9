/**
 * Writes the state tables of docs/reference from the code.
 * Usage: node scripts/generate-state-tables.ts. Tests compare the files with the tables.
 */
import { mkdir, writeFile } from "node:fs/promises"
import path from "node:path"
import { annotationStatesPage } from "../server/src/evaluation/annotation/annotation-states-page.ts"
import { jobStatesPage } from "../server/src/scheduler/job-states-page.ts"

const folder = path.resolve(import.meta.dirname, "../docs/reference")
await mkdir(folder, { recursive: true })
await writeFile(path.join(folder, "job-states.md"), jobStatesPage())
await writeFile(path.join(folder, "annotation-states.md"), annotationStatesPage())
