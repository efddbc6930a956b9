/**
 * The only test double: a scripted engine inside the test's process that speaks the real protocol
 * over a real socket, so that supervision, framing and cancellation are the ones of production.
 * Tests replace `handlers`, call `die()` and stop `heartbeats`.
 */
import { createHash } from "node:crypto"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { createServer, type Socket } from "node:net"
import path from "node:path"
import { PROTOCOL_VERSION } from "../wire/engine/frames.ts"
import type { EngineMethod } from "../wire/engine/methods.ts"
import { EngineFailure, type EngineParams } from "./engine.ts"
import type { SpecTrajectory } from "../wire/engine/train.ts"
import { writeFakeRecord } from "./fake-record.ts"
import { encodeFrame, FrameReader } from "./frame-codec.ts"
import type { EngineProcess } from "./python-process.ts"

export interface FakeCall {
  emit(event: string, data: unknown): void
  /** Fires on `chat.cancel` and `train.cancel` of this call, and when the engine dies. */
  cancelled: AbortSignal
}

export type FakeHandler<M extends EngineMethod> = (params: EngineParams<M>, call: FakeCall) => unknown
export type FakeHandlers = { [M in EngineMethod]?: FakeHandler<M> }

interface OpenCall {
  method: string
  jobId: string | undefined
  controller: AbortController
}

const heartbeatMs = 100

export class FakeEngine {
  handlers: FakeHandlers
  heartbeats = true
  /** Base models that it says it has in memory. */
  bases: string[] = []
  /** Processes started so far. */
  launches = 0
  /** Calls received, in order, over all processes. */
  readonly calls: { method: string; params: unknown }[] = []
  #kill: (() => void) | null = null

  constructor(handlers: FakeHandlers = {}) {
    this.handlers = { ...defaultHandlers, ...handlers }
  }

  /** As kill -9: the socket closes, nothing is answered. */
  die(): void {
    this.#kill?.()
  }

  readonly launch = (socketPath: string): EngineProcess => {
    this.launches += 1
    const exited = Promise.withResolvers<string>()
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      this.#serve(socket)
    })
    server.listen(socketPath)
    const kill = () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      exited.resolve("the fake engine was killed")
    }
    this.#kill = kill
    return {
      exited: exited.promise,
      leave: kill,
      kill: (signal) => signal !== "SIGUSR1" && kill(),
    }
  }

  #serve(socket: Socket): void {
    const reader = new FrameReader()
    const open = new Map<number, OpenCall>()
    const beat = setInterval(() => this.#beat(socket, open.size), heartbeatMs)
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearInterval(beat)
      for (const call of open.values()) call.controller.abort()
    })
    socket.on("data", (chunk: Buffer) =>
      reader.read(chunk, (frame) => {
        const call = frame as { id: number; method: EngineMethod; params: unknown }
        this.calls.push({ method: call.method, params: call.params })
        void this.#answer(socket, open, call)
      }),
    )
  }

  #beat(socket: Socket, running: number): void {
    if (!this.heartbeats) return
    const data = {
      running,
      waiting: 0,
      training: 0,
      loading: 0,
      progress: Date.now(),
      resident_bytes: 0,
      bases: this.bases,
    }
    socket.write(encodeFrame({ event: "heartbeat", data }))
  }

  async #answer(
    socket: Socket,
    open: Map<number, OpenCall>,
    frame: { id: number; method: EngineMethod; params: unknown },
  ) {
    const { id, method, params } = frame
    const write = (message: object) => {
      if (!socket.destroyed) socket.write(encodeFrame({ id, ...message }))
    }
    if (method === "chat.cancel") open.get((params as { id: number }).id)?.controller.abort()
    if (method === "train.cancel") abortJob(open, (params as { job_id: string }).job_id)
    const controller = new AbortController()
    open.set(id, { method, jobId: (params as { job_id?: string }).job_id, controller })
    try {
      const handler: FakeHandler<never> | undefined = this.handlers[method]
      if (handler === undefined) throw new EngineFailure("invalid", `the fake engine has no method ${method}`)
      const emit = (event: string, data: unknown) => write({ event, data })
      write({ result: await handler(params as never, { emit, cancelled: controller.signal }) })
    } catch (error) {
      const failure = error instanceof EngineFailure ? error : new EngineFailure("internal", String(error))
      const { kind, message, param, usage } = failure
      write({ error: { kind, message, param, usage } })
    } finally {
      open.delete(id)
      if (method === "shutdown") this.die()
    }
  }
}

function abortJob(open: Map<number, OpenCall>, jobId: string): void {
  for (const call of open.values()) if (call.method === "train" && call.jobId === jobId) call.controller.abort()
}

/** Waits until the call is cancelled, then fails as an engine does. */
export async function untilCancelled(call: FakeCall): Promise<never> {
  await new Promise((resolve) => call.cancelled.addEventListener("abort", resolve, { once: true }))
  throw new EngineFailure("cancelled", "cancelled")
}

const description = {
  architecture: "FakeForCausalLM",
  vocab_size: 512,
  max_model_len: 2048,
  dtype: "fp32",
  fingerprint: "f".repeat(64),
}

const defaultHandlers: FakeHandlers = {
  hello: () => ({
    protocol: PROTOCOL_VERSION,
    engine_version: "fake",
    device: "cpu",
    device_name: "fake",
    torch_version: "none",
    max_lora_rank: 64,
  }),
  "base.resolve": ({ base }) => ({
    ...description,
    name: base.name,
    path: base.path ?? "/nowhere",
  }),
  chat: fakeChat,
  embed: () => ({ prompt_token_ids: [1, 2, 3], cached_tokens: 0, completion_tokens: 0, embedding: [0.6, -0.8] }),
  "chat.cancel": () => ({}),
  tokenize: () => ({ token_ids: [1, 2, 3], max_model_len: 2048 }),
  detokenize: ({ token_ids }) => ({ text: token_ids.map((id) => `<${id}>`).join("") }),
  train: fakeTrain,
  "train.cancel": () => ({}),
  "adapter.import": async ({ output, archive }) => {
    const manifest_sha256 = await writeFakeAdapter(output.path, `weights of ${path.basename(archive)}`)
    return { size_bytes: 2, manifest_sha256, rank: 8 }
  },
  shutdown: () => ({}),
}

/** Token k of every choice is the letter `a`+k, its id 100+k, its logprob −0.5−k/8; eight tokens unless asked for fewer or more. */
export function fakeTokens(count: number) {
  return Array.from({ length: count }, (_, k) => ({
    id: 100 + k,
    logprob: -0.5 - k / 8,
    bytes: [97 + (k % 26)],
    top: [] as { id: number; logprob: number; bytes: number[] }[],
  }))
}

function fakeChat(params: EngineParams<"chat">, call: FakeCall) {
  const tokens = fakeTokens(params.sampling.max_tokens ?? 8)
  const content = tokens.map((token) => String.fromCharCode(...token.bytes)).join("")
  const prompt = { prompt_token_ids: [1, 2, 3], cached_tokens: 1 }
  call.emit("start", prompt)
  const choices = Array.from({ length: params.n ?? 1 }, (_, index) => {
    const half = Math.floor(tokens.length / 2)
    for (const part of params.stream === true ? [tokens.slice(0, half), tokens.slice(half)] : []) {
      const text = part.map((token) => String.fromCharCode(...token.bytes)).join("")
      call.emit("delta", { index, content: text, reasoning: "", tool_calls: [], tokens: part })
    }
    const finish = {
      finish_reason: "stop",
      stop_reason: null,
      tokens: params.stream === true ? [] : tokens,
    }
    return { index, content, reasoning: null, tool_calls: [], ...finish }
  })
  const prompt_logprobs = params.prompt_logprobs == null ? null : fakePromptLogprobs(params.prompt_logprobs)
  return { ...prompt, completion_tokens: tokens.length * choices.length, choices, prompt_logprobs }
}

/** Prompt logprobs of `ABC`: tokens 1, 2, 3; the k-th likeliest at each position is 300+k (`x`, `y`, `z` …). */
function fakePromptLogprobs(count: number) {
  return [1, 2, 3].map((id, place) => ({
    id,
    logprob: place === 0 ? null : -place,
    rank: place === 0 ? null : 7,
    bytes: [64 + id],
    top: Array.from({ length: place === 0 ? 0 : count }, (_, k) => ({
      id: 300 + k,
      logprob: -0.25 * (k + 1),
      bytes: [120 + k],
    })),
  }))
}

/** One gradient step per line of the data file; the same events each time it is called for a job. */
async function fakeTrain(params: EngineParams<"train">, call: FakeCall) {
  const text = await readFile(params.data.path, "utf8")
  const lines = text.split("\n").filter((line) => line !== "")
  const steps = lines.length
  if (params.record_dir !== undefined) {
    const trajectories = lines.map((line) => JSON.parse(line) as SpecTrajectory).filter((line) => "histories" in line)
    await writeFakeRecord(params.record_dir, trajectories)
  }
  call.emit("training_started", { num_sequences: steps })
  for (let number = 1; number <= steps; number++) {
    if (call.cancelled.aborted) throw new EngineFailure("cancelled", "cancelled")
    call.emit("gradient_step", {
      number,
      metrics: { policy_loss: 1 / number, learning_rate: 5e-6 },
    })
  }
  return writeFakeCheckpoint(params, steps)
}

export async function writeFakeCheckpoint(params: EngineParams<"train">, steps: number) {
  const { key, path: folder } = params.output
  const manifest_sha256 = await writeFakeAdapter(folder, `weights of ${key}`)
  return {
    output: { key: `${key}#${manifest_sha256}`, path: folder },
    size_bytes: 2,
    manifest_sha256,
    gradient_steps: steps,
    data_metrics: { turns_choice_ids: steps },
  }
}

/** The SHA-256 of the manifest. */
async function writeFakeAdapter(folder: string, weights: string): Promise<string> {
  const content = { "adapter_config.json": "{}", "adapter_model.safetensors": weights }
  const files: Record<string, { size: number; sha256: string }> = {}
  await mkdir(folder, { recursive: true })
  for (const [name, text] of Object.entries(content)) {
    files[name] = { size: text.length, sha256: digest(text) }
    await writeFile(path.join(folder, name), text)
  }
  const manifest = JSON.stringify({ files })
  await writeFile(path.join(folder, "manifest.json"), manifest)
  return digest(manifest)
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
