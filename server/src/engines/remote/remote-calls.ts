/**
 * Calls of one connection to an engine on another machine. What the server says with paths is said by content: files that
 * the engine lacks are sent before, and what a job makes is fetched before its result is handed on.
 */
import { stat } from "node:fs/promises"
import path from "node:path"
import type { z } from "zod"
import type { BaseRef } from "../../wire/engine/base.ts"
import type { AdapterRef } from "../../wire/engine/chat.ts"
import type { CarriedAdapter, ContentFile } from "../../wire/engine/files.ts"
import type { EngineMethod } from "../../wire/engine/methods.ts"
import type { remoteTrainParams } from "../../wire/engine/train.ts"
import { type EngineCall, EngineFailure, type EngineParams, type EngineResult } from "../engine.ts"
import { failedCall } from "../engine-call.ts"
import type { EngineConnection } from "../engine-connection.ts"
import { describeFile, fetchFolder, type LocalFile, sendFiles } from "./file-transfer.ts"
import { laterCall } from "./later-call.ts"

const adapterFiles = ["adapter_config.json", "adapter_model.safetensors"]
/** What a job starts from besides; only a model's newest checkpoints have it. */
const optimizerFile = "optimizer.safetensors"

const unsupported: Partial<Record<EngineMethod, string>> = {
  "checkpoint.export":
    "this server's engine is on another machine, which makes no exports; download the adapter itself (format=peft) " +
    "and merge it where the base model is",
  "adapter.import":
    "this server's engine is on another machine, which imports no adapters; import it on a server with an engine of its own",
}

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
    const refusal = unsupported[method]
    if (refusal !== undefined) return failedCall(new EngineFailure("invalid", refusal))
    const own = this.#withBase(params)
    // What a type parameter stands for is not known to the compiler in a branch.
    if (method === "chat" || method === "embed") {
      return this.#sample(method, own as EngineParams<SampleMethod>, signal) as unknown as EngineCall<M>
    }
    if (method === "train") return this.#train(own as EngineParams<"train">, signal) as unknown as EngineCall<M>
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
    const carrying = this.#send(adapter, adapterFiles).finally(() => this.#carrying.delete(adapter.path))
    this.#carrying.set(adapter.path, carrying)
    return carrying.then((carried) => {
      this.#carried.set(adapter.path, carried)
      return carried
    })
  }

  async #send({ key, path: folder }: AdapterRef, names: string[], signal?: AbortSignal): Promise<CarriedAdapter> {
    const files = await described(folder, names)
    await sendFiles(this.#connection, files, signal)
    return { key, files: files.map(toContent) }
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
      start: start && (await this.#send(start, [...adapterFiles, optimizerFile], signal)),
      reference: reference && (await this.#send(reference, adapterFiles, signal)),
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
    const manifest = files.find(({ name }) => name === "manifest.json")
    if (manifest?.sha256 !== result.manifest_sha256) {
      throw new EngineFailure("internal", "the engine told of another checkpoint than it had made")
    }
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

/** Those of the files that the folder has. @throws {EngineFailure} `not_found` where it is no adapter's. */
async function described(folder: string, names: readonly string[]): Promise<LocalFile[]> {
  const files: LocalFile[] = []
  for (const name of names) {
    const file = await describeFile(path.join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null
      throw error
    })
    if (file !== null) files.push(file)
    else if (name !== optimizerFile) throw new EngineFailure("not_found", `the checkpoint ${folder} has no ${name}`)
  }
  return files
}

function toContent({ name, sha256, size }: LocalFile): ContentFile {
  return { name, sha256, size }
}

/** The types of the methods are those of an engine beside the server. */
function inContent<M extends EngineMethod>(_method: M, params: object): EngineParams<M> {
  return params as EngineParams<M>
}

/** The job does not go on. */
function isFinal(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind !== "unavailable" && error.kind !== "cancelled"
}

function isLacking(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === "unavailable" && error.param === "files"
}
