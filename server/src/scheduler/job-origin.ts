/**
 * What a job begins with: the checkpoint that it starts from, and the one that its policy is held against. Either may be
 * deleted while the job is paused or its engine away (training-api 4.3), and the job goes on to the same result (4.2). So
 * their files are kept, as links, from its first beginning on.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import type { CheckpointFiles } from "../engines/adapter-ref.ts"
import { linkOrCopy } from "../storage/file-system/link-or-copy.ts"
import { noneIfGone } from "../storage/file-system/none-if-gone.ts"
import { optimizerFile } from "./optimizer-states.ts"

export interface OriginCheckpoint extends CheckpointFiles {
  modelId: string
  /** The optimizer's state was removed before the job began. */
  isAdapterOnly: boolean
}

export interface JobOrigin {
  /** null: the model has no checkpoint any more. */
  start: OriginCheckpoint | null
  /** null: the base model. */
  reference: OriginCheckpoint | null
}

export const jobOriginsFolder = "job-origins"

/** Relative to the data folder. */
export function originFolder(jobId: string): string {
  return path.join(jobOriginsFolder, jobId)
}

/** As it was kept when the job began first, or what `find` finds, which is kept now. */
export async function jobOrigin(dataDir: string, jobId: string, find: () => Promise<JobOrigin>): Promise<JobOrigin> {
  const folder = path.join(dataDir, originFolder(jobId))
  const known = await readOrigin(folder)
  if (known !== null) return known
  const { start, reference } = await find()
  const half = `${folder}.tmp`
  await rm(half, { recursive: true, force: true })
  await mkdir(half, { recursive: true })
  const keep = async (checkpoint: OriginCheckpoint | null, name: "start" | "reference") => {
    if (checkpoint === null || checkpoint.path === null) return checkpoint
    // Nothing goes on with the reference's optimizer.
    const unused = name === "reference" ? optimizerFile : null
    await linkFiles(path.join(dataDir, checkpoint.path), path.join(half, name), unused)
    return { ...checkpoint, path: path.relative(dataDir, path.join(folder, name)) }
  }
  const origin = { start: await keep(start, "start"), reference: await keep(reference, "reference") }
  await writeFile(path.join(half, originFile), JSON.stringify(origin), { flush: true })
  await rename(half, folder)
  return origin
}

const originFile = "origin.json"

async function readOrigin(folder: string): Promise<JobOrigin | null> {
  const text = await readFile(path.join(folder, originFile), "utf8").catch(noneIfGone)
  return text === null ? null : (JSON.parse(text) as JobOrigin)
}

async function linkFiles(from: string, to: string, unused: string | null): Promise<void> {
  await mkdir(to)
  const names = (await readdir(from)).filter((name) => name !== unused)
  for (const name of names) await linkOrCopy(path.join(from, name), path.join(to, name))
}
