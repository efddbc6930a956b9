/**
 * What a crash keeps from being removed: files of jobs that have ended, folders of checkpoints and models that were deleted,
 * those in which a version of an artifact became a checkpoint, states of optimizers that are no longer needed. Of the rest
 * only what the catalog knows as gone is touched; a folder that it does not know may be newer than a catalog that was restored.
 */
import { rm } from "node:fs/promises"
import path from "node:path"
import { adapterOnlyPaths, deletedPaths } from "../storage/catalog/training/checkpoints.ts"
import { isUuid } from "../storage/catalog/identifiers.ts"
import { endedJobs } from "../storage/catalog/training/job-claims.ts"
import { deletedModels } from "../storage/catalog/training/models.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { namesIn } from "../storage/file-system/names-in.ts"
import { isAdoptionFolder } from "../storage/lora-artifacts.ts"
import { jobOriginsFolder } from "./job-origin.ts"
import { optimizerFile } from "./optimizer-states.ts"
import { modelsWithRecords, removeModelRecords } from "./training-records.ts"

const uuidLength = 36

/** Call it while nothing runs: a deleted checkpoint may still answer requests that began before. */
export async function removeOrphans(database: CatalogDatabase, dataDir: string): Promise<void> {
  const spent = [...(await jobFiles(database, dataDir)), ...(await checkpointFolders(database, dataDir))]
  for (const file of spent) await rm(path.join(dataDir, file), { recursive: true, force: true })
  for (const modelId of await deletedModels(database, await modelsWithRecords(dataDir))) {
    await removeModelRecords(dataDir, modelId)
  }
}

async function jobFiles(database: CatalogDatabase, dataDir: string): Promise<string[]> {
  const files = [...(await pathsIn(dataDir, "jobs")), ...(await pathsIn(dataDir, jobOriginsFolder))]
  const jobOf = (file: string) => path.basename(file).slice(0, uuidLength)
  const ended = new Set(await endedJobs(database, files.map(jobOf).filter(isUuid)))
  return files.filter((file) => ended.has(jobOf(file)))
}

async function checkpointFolders(database: CatalogDatabase, dataDir: string): Promise<string[]> {
  const models = (await pathsIn(dataDir, "checkpoints")).filter((folder) => isUuid(path.basename(folder)))
  const deleted = new Set(
    await deletedModels(
      database,
      models.map((folder) => path.basename(folder)),
    ),
  )
  const gone = models.filter((folder) => deleted.has(path.basename(folder)))
  const live = models.filter((folder) => !deleted.has(path.basename(folder)))
  const steps = (await Promise.all(live.map((folder) => pathsIn(dataDir, folder)))).flat()
  const optimizers = (await adapterOnlyPaths(database, steps)).map((folder) => `${folder}/${optimizerFile}`)
  const adopted = steps.filter((folder) => isAdoptionFolder(path.basename(folder)))
  const halves = [...adopted, ...(await halfWritten(database, steps))]
  return [...gone, ...(await deletedPaths(database, steps)), ...halves, ...optimizers]
}

/** Checkpoints that the engine was writing when it was killed, of jobs that have ended: nobody goes on with them. */
async function halfWritten(database: CatalogDatabase, steps: string[]): Promise<string[]> {
  const jobOf = (folder: string) => /\.([^.]+)\.tmp$/.exec(folder)?.[1] ?? ""
  const ended = new Set(await endedJobs(database, steps.map(jobOf).filter(isUuid)))
  return steps.filter((folder) => ended.has(jobOf(folder)))
}

/** Paths relative to the data folder. */
async function pathsIn(dataDir: string, folder: string): Promise<string[]> {
  return (await namesIn(path.join(dataDir, folder))).map((name) => `${folder}/${name}`)
}
