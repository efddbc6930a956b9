/** The folders in which the engine leaves what RL jobs trained: where they are, and when they go. */
import { rm } from "node:fs/promises"
import path from "node:path"
import { isUuid } from "../storage/catalog/identifiers.ts"
import { endedJobs } from "../storage/catalog/training/job-claims.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { namesIn } from "../storage/file-system/names-in.ts"

const dayMs = 24 * 60 * 60 * 1000

export function recordFolder(dataDir: string, modelId: string, jobId: string): string {
  return path.join(modelRecords(dataDir, modelId), jobId)
}

export async function removeModelRecords(dataDir: string, modelId: string): Promise<void> {
  await rm(modelRecords(dataDir, modelId), { recursive: true, force: true })
}

/** Models that have a folder of records. */
export async function modelsWithRecords(dataDir: string): Promise<string[]> {
  return (await namesIn(path.join(dataDir, "training-records"))).filter(isUuid)
}

/** Removes the records of jobs that ended more than so many days ago; says of how many. */
export async function removeOldRecords(database: CatalogDatabase, dataDir: string, days: number): Promise<number> {
  const before = new Date(Date.now() - days * dayMs)
  let removed = 0
  for (const modelId of await modelsWithRecords(dataDir)) {
    const jobs = (await namesIn(modelRecords(dataDir, modelId))).filter(isUuid)
    for (const jobId of await endedJobs(database, jobs, before)) {
      await rm(recordFolder(dataDir, modelId, jobId), { recursive: true, force: true })
      removed += 1
    }
  }
  return removed
}

function modelRecords(dataDir: string, modelId: string): string {
  return path.join(dataDir, "training-records", modelId)
}
