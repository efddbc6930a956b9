/**
 * Writes the pages of docs that are printed from the code.
 * Usage: node scripts/generate-pages.ts. Tests compare the files with the code.
 */
import { writeFile } from "node:fs/promises"
import path from "node:path"
import { annotationStatesPage } from "../server/src/evaluation/annotation/annotation-states-page.ts"
import { limitsPage } from "../server/src/limits-page.ts"
import { jobStatesPage } from "../server/src/scheduler/job-states-page.ts"

const docs = path.resolve(import.meta.dirname, "../docs")
await writeFile(path.join(docs, "reference/job-states.md"), jobStatesPage())
await writeFile(path.join(docs, "reference/annotation-states.md"), annotationStatesPage())
await writeFile(path.join(docs, "guide/limits.md"), limitsPage())
