/**
 * Writes docs/reference/job-states.md from the scheduler's table.
 * Usage: node scripts/generate-job-states.ts. A test compares the file with the table.
 */
import { mkdir, writeFile } from "node:fs/promises"
import path from "node:path"
import { jobStatesPage } from "../server/src/scheduler/job-states-page.ts"

const page = path.resolve(import.meta.dirname, "../docs/reference/job-states.md")
await mkdir(path.dirname(page), { recursive: true })
await writeFile(page, jobStatesPage())
