/**
 * Calls of one connection to an engine on another machine. What the server says with paths is said by content: files that
 * the engine lacks are sent before, and what a job makes is fetched before its result is handed on.
 */
import { stat } from "node:fs/promises"
import type { z } from "zod"
import type { BaseRef } from "../../wire/engine/base.ts"
import type { AdapterRef } from "../../wire/engine/chat.ts"
import type { CarriedAdapter } from "../../wire/engine/files.ts"
import type { EngineMethod } from "../../wire/engine/methods.ts"
import type { remoteTrainParams } from "../../wire/engine/train.ts"
import { type EngineCall, EngineFailure, type EngineParams, type EngineResult } from "../engine.ts"
import type { EngineConnection } from "../engine-connection.ts"
import { adapterFiles, inContent, optimizerFile, requireManifest, sendAdapter } from "./checkpoint-files.ts"
import { fetchFolder, sendFiles } from "./file-transfer.ts"
import { laterCall } from "./later-call.ts"
import { remoteExport, remoteImport } from "./remote-transfers.ts"

type SampleMethod = "chat" | "embed"

export class RemoteCalls {
  readonly #connection: EngineConnection
  readonly #shipped: ReadonlySet<string>
  /** Adapters that the engine has, by the paths of their folders. */
  readonly #carried = new Map<string, CarriedAdapter>()
  readonly #carrying = new Map<string, Promise<CarriedAdapter>>()

  /** `shipped`: base models that each engine has of its own. */
  constructor(connection: EngineConnection, shipped: ReadonlySet<string>) {
    this.#connection = connection
    this.#shipped = shipped
  }

  call<M extends EngineMethod>(method: M, params: EngineParams<M>, signal?: AbortSignal): EngineCall<M> {
    const own = this.#withBase(params)
    // What a type parameter stands for is not known to the compiler in a branch.
    if (method === "chat" || method === "embed") {
      return this.#sample(method, own as EngineParams<SampleMethod>, signal) as unknown as EngineCall<M>
    }
    if (method === "train") return this.#train(own as EngineParams<"train">, signal) as unknown as EngineCall<M>
    if (method === "checkpoint.export") {
      const asked = own as EngineParams<"checkpoint.export">
      return remoteExport(this.#connection, asked, signal) as unknown as EngineCall<M>
    }
    if (method === "adapter.import") {
      const asked = own as EngineParams<"adapter.import">
      return remoteImport(this.#connection, asked, signal) as unknown as EngineCall<M>
    }
    return this.#connection.call(method, own, signal)
  }

  /** A folder of the server means nothing to the engine where it has the model itself. */
  #withBase<P>(params: P): P {
    const { base } = params as { base?: BaseRef }
    return base !== undefined && this.#shipped.has(base.name) ? { ...params, base: { ...base, path: null } } : params
  }

  #sample(method: SampleMethod, params: EngineParams<SampleMethod>, signal?: AbortSignal): EngineCall<SampleMethod> {
    const { adapter } = params
    if (adapter === null) return this.#connection.call(method, params, signal)
    const ask = (carried: CarriedAdapter) => {
      const call = this.#connection.call(method, inContent(method, { ...params, adapter: carried }), signal)
      call.result.catch((error: unknown) => {
        // Whoever asks once more has them sent again.
        if (isLacking(error)) this.#carried.delete(adapter.path)
      })
      return call
    }
    const known = this.#carried.get(adapter.path)
    return known === undefined ? laterCall(this.#carry(adapter).then(ask)) : ask(known)
  }

  /** Requests that wait for the same adapter share its way. */
  #carry(adapter: AdapterRef): Promise<CarriedAdapter> {
    const begun = this.#carrying.get(adapter.path)
    if (begun !== undefined) return begun
    const carrying = sendAdapter(this.#connection, adapter, adapterFiles).finally(() =>
      this.#carrying.delete(adapter.path),
    )
    this.#carrying.set(adapter.path, carrying)
    return carrying.then((carried) => {
      this.#carried.set(adapter.path, carried)
      return carried
    })
  }

  #train(params: EngineParams<"train">, signal?: AbortSignal): EngineCall<"train"> {
    const begun = this.#beginTraining(params, signal)
    const call = laterCall(begun, (result) => this.#takeOver(params, result, signal))
    call.result.catch((error: unknown) => {
      if (isFinal(error)) this.#forget(params.job_id)
    })
    return call
  }

  /** What stays goes when the engine's store is full. */
  #forget(jobId: string): void {
    this.#connection.call("train.forget", { job_id: jobId })
  }

  async #beginTraining(params: EngineParams<"train">, signal?: AbortSignal): Promise<EngineCall<"train">> {
    const { job_id, base, lora, job, data, start, reference, record_dir, output } = params
    const { size } = await stat(data.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error
      throw new EngineFailure("not_found", `the job's data ${data.path} is not there`)
    })
    const sent = { name: "data", ...data, size }
    await sendFiles(this.#connection, [sent], signal)
    const remote: z.input<typeof remoteTrainParams> = {
      job_id,
      base,
      lora,
      job,
      start: start && (await sendAdapter(this.#connection, start, [...adapterFiles, optimizerFile], signal)),
      reference: reference && (await sendAdapter(this.#connection, reference, adapterFiles, signal)),
      data: { sha256: data.sha256 },
      is_recorded: record_dir !== undefined,
      output: { key: output.key },
    }
    return this.#connection.call("train", inContent("train", remote), signal)
  }

  /** The checkpoint lies in the data folder before anybody hears of it. */
  async #takeOver(
    { job_id, output, record_dir }: EngineParams<"train">,
    result: EngineResult<"train">,
    signal?: AbortSignal,
  ): Promise<EngineResult<"train">> {
    const { files = [], record = [], ...rest } = result
    requireManifest(files, result)
    await fetchFolder(this.#connection, files, { output: output.path, owner: job_id }, signal)
    if (record_dir !== undefined && record.length > 0) {
      await fetchFolder(this.#connection, record, { output: record_dir, owner: job_id }, signal)
    }
    const weights = files.filter(({ name }) => adapterFiles.includes(name))
    this.#carried.set(output.path, { key: output.key, files: weights })
    this.#forget(job_id)
    return { ...rest, output }
  }
}

/** The job does not go on. */
function isFinal(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind !== "unavailable" && error.kind !== "cancelled"
}

function isLacking(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === "unavailable" && error.param === "files"
}
