/** Downloads of a checkpoint: its PEFT folder as a tar file, or file by file. */
import type { FastifyReply } from "fastify"
import { readFile, stat } from "node:fs/promises"
import path from "node:path"
import { z } from "zod"
import { HeddleError, invalid } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import {
  checkpointDownloadQuery,
  checkpointFileParams,
  checkpointFiles,
  checkpointParams,
} from "../wire/training/checkpoint.ts"
import { type Archive, sendArchive } from "./checkpoint-archive.ts"
import { heldCheckpoint } from "./checkpoint-access.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { sendExport } from "./exports/send-export.ts"

/** The files that PEFT reads. The other files of a checkpoint are of use to the engine alone. */
const filenames = ["adapter_config.json", "adapter_model.safetensors"]

const manifest = z.object({ files: z.record(z.string(), z.object({ size: z.int(), sha256: z.string() })) })
const bytes = z.string().meta({ format: "binary" })

export function checkpointFileRoutes(dependencies: TrainingDependencies): Route[] {
  const shared = { method: "GET", dialect: "detail", tag: "Checkpoints" } as const
  const download = { ...shared, isUncompressed: true } as const
  return [
    route({
      ...shared,
      path: "/v1/preview/models/:model_id/checkpoints/:step/files",
      access: { right: "read", of: "model path.model_id" },
      summary: "List the files of a checkpoint's PEFT folder",
      schemas: { params: checkpointParams },
      response: checkpointFiles,
      handle: async ({ params, principal, reply }) => {
        const { step, folder } = await checkpointOf(dependencies, principal, params, reply)
        const { files } = manifest.parse(JSON.parse(await readFile(path.join(folder, "manifest.json"), "utf8")))
        const listed = filenames.flatMap((filename) => {
          const file = files[filename]
          return file === undefined ? [] : [{ filename, size_bytes: file.size, sha256: file.sha256 }]
        })
        return { object: "list", step, data: listed }
      },
    }),
    route({
      ...download,
      path: "/v1/preview/models/:model_id/checkpoints/:step/files/:filename",
      access: { right: "read", of: "model path.model_id" },
      summary: "Download one file of a checkpoint's PEFT folder, or a range of it",
      schemas: { params: checkpointFileParams },
      response: bytes,
      answerTypes: ["application/octet-stream"],
      handle: async ({ params, principal, reply }) => {
        const { folder } = await checkpointOf(dependencies, principal, params, reply)
        const { filename } = params
        if (!filenames.includes(filename)) {
          throw new HeddleError(
            "not_found",
            `a checkpoint has no file "${filename}"; it has ${filenames.join(" and ")}`,
          )
        }
        return reply
          .header("content-type", "application/octet-stream")
          .header("content-disposition", `attachment; filename="${filename}"`)
          .sendFile(filename, folder, { contentType: false, cacheControl: false, immutable: false })
      },
    }),
    route({
      ...download,
      path: "/v1/preview/models/:model_id/checkpoints/:step/download",
      access: { right: "read", of: "model path.model_id" },
      summary: "Download a checkpoint: a tar file of its PEFT folder or of merged weights, or a GGUF file",
      schemas: { params: checkpointParams, query: checkpointDownloadQuery },
      response: bytes,
      answerTypes: ["application/x-tar", "application/octet-stream"],
      handle: async (context) => {
        const { params, query, principal, reply } = context
        if (query.format !== "peft") return sendExport(dependencies, context, query.format)
        if (query.dtype !== undefined) {
          throw invalid(
            ["query", "dtype"],
            "a PEFT folder has the dtype that was trained; choose format merged or gguf",
          )
        }
        const archive = await archiveFor(await checkpointOf(dependencies, principal, params, reply))
        return sendArchive(reply, archive)
      },
    }),
  ]
}

interface FoundCheckpoint {
  model: string
  step: number
  createdAt: Date
  folder: string
}

/** @throws {HeddleError} `not_found`. */
async function checkpointOf(
  dependencies: TrainingDependencies,
  principal: Principal,
  params: { model_id: string; step: string },
  reply: FastifyReply,
): Promise<FoundCheckpoint> {
  const { model, step, found } = await heldCheckpoint(dependencies, principal, params, reply)
  if (found.path === null) {
    throw new HeddleError(
      "not_found",
      `step ${step} of "${model.name}" has no files: it answers as the base model ${model.baseModel} until a job has trained it`,
    )
  }
  return { model: model.name, step, createdAt: found.createdAt, folder: path.join(dependencies.dataDir, found.path) }
}

async function archiveFor({ model, step, createdAt, folder }: FoundCheckpoint): Promise<Archive> {
  const files = filenames.map(async (name) => {
    const source = path.join(folder, name)
    return { name, source, sizeBytes: (await stat(source)).size }
  })
  return { folder: `${model}-step${step}`, modifiedAt: createdAt, files: await Promise.all(files) }
}
