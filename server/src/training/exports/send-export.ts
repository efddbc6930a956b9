/** The answer to a download of a checkpoint as merged weights or as GGUF. */
import { readdir, stat } from "node:fs/promises"
import path from "node:path"
import { onceAnswered } from "../../http/answers/once-answered.ts"
import type { RouteContext } from "../../http/route.ts"
import type { ExportFormat } from "../../wire/engine/export.ts"
import type { checkpointDownloadQuery, checkpointParams } from "../../wire/training/checkpoint.ts"
import { type Archive, sendArchive } from "../checkpoint-archive.ts"
import { heldCheckpoint } from "../checkpoint-access.ts"
import type { TrainingDependencies } from "../dependencies.ts"
import { requireRoomFor } from "../model-access.ts"

interface DownloadRequest {
  params: typeof checkpointParams
  query: typeof checkpointDownloadQuery
}

/** @throws {HeddleError} */
export async function sendExport(
  dependencies: TrainingDependencies,
  { params, query, principal, reply, signal }: RouteContext<DownloadRequest>,
  format: ExportFormat,
): Promise<unknown> {
  const { database, exports, requireEngine } = dependencies
  const { model, step, found } = await heldCheckpoint(dependencies, principal, params, reply)
  requireEngine()
  const { path: file, release } = await exports.use(
    {
      base: { name: model.baseModel, path: model.basePath },
      modelId: model.id,
      step,
      path: found.path,
      manifestSha256: found.manifestSha256,
      format,
      dtype: query.dtype ?? null,
      title: `${model.name}-step${step}`,
      tenant: model.entity,
    },
    (sizeBytes) => requireRoomFor(database, principal, model, sizeBytes),
    signal,
  )
  onceAnswered(reply, release)
  if (format !== "gguf") return sendArchive(reply, await archiveOfFolder(file, found.createdAt))
  const name = path.basename(file)
  return reply
    .header("content-type", "application/octet-stream")
    .header("content-disposition", `attachment; filename="${name}"`)
    .sendFile(name, path.dirname(file), { contentType: false, cacheControl: false, immutable: false })
}

async function archiveOfFolder(folder: string, modifiedAt: Date): Promise<Archive> {
  const files = (await readdir(folder)).toSorted().map(async (name) => {
    const source = path.join(folder, name)
    return { name, source, sizeBytes: (await stat(source)).size }
  })
  return { folder: path.basename(folder), modifiedAt, files: await Promise.all(files) }
}
