/** Compares decoding over HTTP, 64 mixed requests over 8 adapters, with vLLM and with peft. */
import { readFileSync } from "node:fs"
import { type DecodeRun, decodeFindings, THROUGH_VLLM } from "./decode-findings.ts"
import { type Adapter, makeAdapters } from "./harness/adapters.ts"
import { type BaseModel, baseModel, modelSizes } from "./harness/base-models.ts"
import { completeAll, type CompletionRequest, type CompletionServer, makeRequests } from "./harness/completions.ts"
import { hfPython } from "./harness/environments.ts"
import { type StartOptions, startHeddle } from "./harness/heddle-server.ts"
import { machineCores } from "./harness/machine.ts"
import { type Contender, takeTurns } from "./harness/measure.ts"
import { count, type Dtype, dtypes, oneOf, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { type PythonWorker, startWorker } from "./harness/python-worker.ts"
import type { Findings } from "./harness/result.ts"
import { startVllm } from "./harness/vllm-server.ts"

export const options = {
  /** Base model: tiny or small. */
  model: { type: "string", default: "tiny" },
  /** Requests at once. */
  requests: { type: "string", default: "64" },
  /** How often each server is timed. */
  rounds: { type: "string", default: "5" },
  /** Also Heddle with vLLM as what samples. */
  "vllm-sampler": { type: "boolean", default: false },
  /** Number format of all servers: fp32 or bf16. In bf16 Heddle's fp32 is measured too. */
  dtype: { type: "string", default: "fp32" },
  /** Leave out vLLM, a slow peer. */
  "no-vllm": { type: "boolean", default: false },
  /** Leave out peft, a slow peer. */
  "no-peft": { type: "boolean", default: false },
} as const

const ADAPTERS = 8
const PEFT_BATCHES = [16, 64]

export async function run(given: Options): Promise<Findings> {
  const base = await baseModel(oneOf(modelSizes, given, "model"))
  const requests = makeRequests({
    requests: count(given, "requests"),
    vocabulary: vocabularySize(base),
    adapters: ADAPTERS,
  })
  const dtype = oneOf(dtypes, given, "dtype")
  const rounds = count(given, "rounds")
  const decode: DecodeRun = { base, dtype, requests, rounds, samples: new Map(), answers: new Map() }
  await using peers = new AsyncDisposableStack()
  const heddle = await heddleModes(decode, peers, "heddle", { dtype })
  const { adapters, contenders: own } = heddle
  const contenders = [...own]
  if (dtype !== "fp32") {
    contenders.push(...(await heddleModes(decode, peers, "heddle in fp32", { dtype: "fp32" })).contenders)
  }
  if (given["vllm-sampler"]) {
    contenders.push(...(await heddleModes(decode, peers, THROUGH_VLLM, { dtype, sampler: "vllm" })).contenders)
  }
  if (!given["no-vllm"]) {
    const vllm = peers.use(await startVllm(base.folder, dtype))
    for (const adapter of adapters) await vllm.loadAdapter(adapter.alias, adapter.folder)
    const names = ["base", ...adapters.map((one) => one.alias)]
    contenders.push(...modes(decode, "vllm", vllm.pid, vllm.completions, names))
  }
  decode.samples = await takeTurns(sideBySide(contenders), decode.rounds)
  if (!given["no-peft"]) {
    const peft = peers.use(startWorker(await hfPython(), "peft_generate.py", "peft-generate"))
    const [mixed] = own.filter((contender) => contender.name === "heddle eight")
    if (mixed) await measurePeft(decode, peft, adapters, mixed)
  }
  return decodeFindings(decode)
}

/** A Heddle server with adapters that it trained, and its contenders. */
async function heddleModes(
  decode: DecodeRun,
  servers: AsyncDisposableStack,
  who: string,
  { dtype, sampler = "heddle" }: { dtype: Dtype } & Pick<StartOptions, "sampler">,
): Promise<{ adapters: Adapter[]; contenders: Contender[] }> {
  const data = temporaryFolder()
  const heddle = servers.use(await startHeddle(data, { sampler, env: { HEDDLE_ENGINE_DTYPE: dtype } }))
  const adapters = await makeAdapters(heddle, data, decode.base, ADAPTERS)
  const names = [decode.base.name, ...adapters.map((one) => one.model)]
  return { adapters, contenders: modes(decode, who, heddle.pid, heddle.completions, names) }
}

/** Contenders of one server: base only, one adapter for all, eight mixed. `models` are names, the base's first. */
function modes(decode: DecodeRun, who: string, pid: number, server: CompletionServer, models: string[]): Contender[] {
  const places: Record<string, (request: CompletionRequest) => number> = {
    base: () => 0,
    one: () => 1,
    eight: (request) => 1 + request.adapter,
  }
  return Object.entries(places).map(([mode, placeOf]) => ({
    name: `${who} ${mode}`,
    pid,
    async run(round) {
      // Each round has a salt of its own, so that nothing comes from the prompt cache.
      const salted = { ...server, extra: { cache_salt: `${mode}-${round}` } }
      const done = await completeAll(salted, decode.requests, (request) => models[placeOf(request)] ?? "")
      decode.answers.set(`${who} ${mode}`, done)
      return completionTokens(decode.requests)
    },
  }))
}

/** Orders contenders so that those of one mode, which are compared, run one after the other. */
const sideBySide = (contenders: Contender[]) =>
  ["base", "one", "eight"].flatMap((mode) => contenders.filter((one) => one.name.endsWith(` ${mode}`)))

/** One round of each batch size, each followed by Heddle's mixed run again. */
async function measurePeft(
  decode: DecodeRun,
  peft: PythonWorker,
  adapters: Adapter[],
  heddle: Contender,
): Promise<void> {
  await peft.call("load", {
    base: decode.base.folder,
    adapters: Object.fromEntries(adapters.map((adapter) => [adapter.alias, adapter.folder])),
    threads: machineCores(),
    dtype: decode.dtype,
  })
  for (const batch of PEFT_BATCHES.filter((size) => size <= decode.requests.length)) {
    const contender = peftContender(decode, peft, adapters, batch)
    const beside = { ...heddle, run: (round: number) => heddle.run(1000 * batch + round) }
    const samples = await takeTurns([contender, beside], 1)
    decode.samples.set(contender.name, samples.get(contender.name) ?? [])
    decode.samples.set(`heddle eight beside ${contender.name}`, samples.get(heddle.name) ?? [])
  }
}

function peftContender(decode: DecodeRun, peft: PythonWorker, adapters: Adapter[], batch: number): Contender {
  const name = `peft eight, batch ${batch}`
  const requests = decode.requests.map((request) => ({
    prompt_ids: request.promptIds,
    max_tokens: request.maxTokens,
    adapter: adapters[request.adapter]?.alias,
  }))
  const warmUp = requests.slice(0, batch).map((request) => ({ ...request, max_tokens: 2 }))
  return {
    name,
    pid: peft.pid,
    async run(round) {
      const ids = await peft.call<number[][]>("generate", { requests: round === 0 ? warmUp : requests, batch })
      const done = ids.map((tokenIds) => ({ tokenIds, logprobs: [] }))
      decode.answers.set(name, done)
      return done.reduce((sum, one) => sum + one.tokenIds.length, 0)
    },
  }
}

const completionTokens = (requests: CompletionRequest[]) => requests.reduce((sum, one) => sum + one.maxTokens, 0)

/** Number of the tokenizer's tokens, which the tiny model's embedding has more rows than. */
function vocabularySize(base: BaseModel): number {
  const tokenizer = JSON.parse(readFileSync(`${base.folder}/tokenizer.json`, "utf8")) as {
    model: { vocab: Record<string, number> }
  }
  return Object.keys(tokenizer.model.vocab).length
}
