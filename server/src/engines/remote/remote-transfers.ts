/**
 * Exports and imports of checkpoints by an engine on another machine. It writes into a folder of its own, from which the files
 * are fetched before anybody hears of them.
 */
import { rename } from "node:fs/promises"
import type { z } from "zod"
import type { remoteExportParams } from "../../wire/engine/export.ts"
import type { ContentFile } from "../../wire/engine/files.ts"
import type { remoteImportParams } from "../../wire/engine/import.ts"
import { type EngineCall, EngineFailure, type EngineParams } from "../engine.ts"
import type { EngineConnection } from "../engine-connection.ts"
import { adapterFiles, inContent, requireManifest, sendAdapter } from "./checkpoint-files.ts"
import { describeFile, fetchFile, fetchFolder, sendFiles } from "./file-transfer.ts"
import { laterCall } from "./later-call.ts"

export function remoteExport(
  connection: EngineConnection,
  { output: { path: output }, adapter, ...params }: EngineParams<"checkpoint.export">,
  signal?: AbortSignal,
): EngineCall<"checkpoint.export"> {
  const begin = async () => {
    const carried = adapter && (await sendAdapter(connection, adapter, adapterFiles, signal))
    const remote: z.input<typeof remoteExportParams> = { ...params, adapter: carried }
    return connection.call("checkpoint.export", inContent("checkpoint.export", remote), signal)
  }
  return laterCall(begin(), async ({ files = [], ...result }) => {
    if (params.format === "merged") await fetchFolder(connection, files, { output, owner: "export" }, signal)
    else await takeFile(connection, files, output, signal)
    return result
  })
}

/** The file appears whole or not at all. */
async function takeFile(
  connection: EngineConnection,
  [file]: readonly ContentFile[],
  output: string,
  signal?: AbortSignal,
): Promise<void> {
  if (file === undefined) throw new EngineFailure("internal", "the engine made an export of no file")
  const part = `${output}.part`
  await fetchFile(connection, file, part, signal)
  await rename(part, output)
}

export function remoteImport(
  connection: EngineConnection,
  { output: { path: output }, archive, ...params }: EngineParams<"adapter.import">,
  signal?: AbortSignal,
): EngineCall<"adapter.import"> {
  const begin = async () => {
    const file = await describeFile(archive)
    await sendFiles(connection, [file], signal)
    const remote: z.input<typeof remoteImportParams> = { ...params, archive: { sha256: file.sha256 } }
    return connection.call("adapter.import", inContent("adapter.import", remote), signal)
  }
  return laterCall(begin(), async ({ files = [], ...result }) => {
    requireManifest(files, result)
    await fetchFolder(connection, files, { output, owner: "import" }, signal)
    return result
  })
}
