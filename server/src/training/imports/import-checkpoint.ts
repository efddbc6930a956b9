/**
 * A LoRA that was trained elsewhere becomes the next step of a model: uploaded into a folder of its own, checked and written
 * anew by the engine, moved beside the model's other checkpoints in the transaction that lists it.
 */
import { randomUUID } from "node:crypto"
import { createWriteStream } from "node:fs"
import { mkdir, rename, rm } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { bodyStream } from "../../http/bodies/body-stream.ts"
import type { Principal } from "../../http/principal.ts"
import { addImportedCheckpoint, knownPaths } from "../../storage/catalog/training/imported-checkpoints.ts"
import type { ModelRecord } from "../../storage/catalog/training/models.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { namesIn } from "../../storage/file-system/names-in.ts"
import { syncFolder } from "../../storage/file-system/sync-folder.ts"
import { usageOf } from "../../storage/team-usage.ts"
import type { importCheckpointQuery } from "../../wire/training/checkpoint.ts"
import type { z } from "zod"
import type { TrainingDependencies } from "../dependencies.ts"
import { requireRoomFor } from "../model-access.ts"

const folderName = "checkpoint-imports"

/** The step that it became. @throws {HeddleError} */
export async function importCheckpoint(
  { database, dataDir, importAdapter, limits, wakeScheduler }: TrainingDependencies,
  principal: Principal,
  model: ModelRecord,
  { step, any_base }: z.output<typeof importCheckpointQuery>,
  raw: IncomingMessage,
): Promise<number> {
  const id = randomUUID()
  const folder = path.join(dataDir, folderName, id)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    const archive = path.join(folder, "adapter.tar")
    await requireRoomFor(database, principal, model, Number(raw.headers["content-length"] ?? 0))
    await pipeline(bodyStream(raw, limits.maximumImportBytes), createWriteStream(archive, { mode: 0o600 }))
    const written = path.join(folder, "adapter")
    const { size_bytes: sizeBytes, manifest_sha256: manifestSha256 } = await importAdapter({
      base: { name: model.baseModel, path: model.basePath },
      archive,
      any_base,
      tenant: model.entity,
      output: { path: written },
    })
    await requireRoomFor(database, principal, model, sizeBytes)
    const relative = path.posix.join("checkpoints", model.id, nameOf(id))
    const target = path.join(dataDir, relative)
    const imported = { modelId: model.id, step: step ?? null, path: relative, sizeBytes, manifestSha256 }
    try {
      const made = await addImportedCheckpoint(database, imported, () => place(written, target))
      usageOf(database)?.ofProject(model.projectId, sizeBytes)
      return made
    } catch (error) {
      // Where the answer of the catalog was lost, the row may be there.
      if ((await knownPaths(database, [relative]).catch(() => [relative])).length === 0) {
        await rm(target, { recursive: true, force: true })
      }
      throw error
    } finally {
      // A job of the model may have waited for the step.
      wakeScheduler()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function place(written: string, target: string): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true })
  await rename(written, target)
  await syncFolder(path.dirname(target))
}

function nameOf(id: string): string {
  return `import_${id}`
}

/** What a kill left: uploads, and checkpoints that were moved into place and never listed. Call it before the first request. */
export async function removeBrokenImports(database: CatalogDatabase, dataDir: string): Promise<void> {
  const unfinished = await namesIn(path.join(dataDir, folderName))
  if (unfinished.length === 0) return
  const models = await namesIn(path.join(dataDir, "checkpoints"))
  const possible = models.flatMap((model) => unfinished.map((id) => path.posix.join("checkpoints", model, nameOf(id))))
  const listed = new Set(await knownPaths(database, possible))
  const unlisted = possible.filter((file) => !listed.has(file))
  for (const file of unlisted) await rm(path.join(dataDir, file), { recursive: true, force: true })
  await rm(path.join(dataDir, folderName), { recursive: true, force: true })
}
