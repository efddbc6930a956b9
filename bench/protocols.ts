/** Compares Responses and Messages with chat: the same model, prompt and seed, in turns. */
import { baseModel } from "./harness/base-models.ts"
import { engineVersions } from "./harness/environments.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { checkpointName, register } from "./harness/heddle-training.ts"
import { median, pairwiseRatio, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Answers of each protocol that are timed. */
  answers: { type: "string", default: "100" },
  /** Tokens of an answer at most. */
  tokens: { type: "string", default: "64" },
} as const

const question = "Natalia sold clips to 48 of her friends, and then half as many. How many did she sell?"
const protocols = ["chat", "responses", "messages"] as const
type Protocol = (typeof protocols)[number]

interface ChatAnswer {
  choices: { token_ids: number[] }[]
}
interface ResponsesAnswer {
  token_generations: { output_tokens: { token_id: number }[] }[]
}
interface MessagesAnswer {
  token_ids: number[]
}

export async function run(given: Options): Promise<Findings> {
  const [answers, tokens] = [count(given, "answers"), count(given, "tokens")]
  const base = await baseModel("tiny")
  const data = temporaryFolder()
  await using server = await startHeddle(data)
  const model = checkpointName(await register(server, "protocols", base.name), 0)
  const ms: Record<Protocol, number[]> = { chat: [], responses: [], messages: [] }
  let unequal = 0
  // The first answers are not counted: they also load the model, which later ones find loaded.
  for (let seed = -10; seed < answers; seed++) {
    const ids: string[] = []
    for (const protocol of seed % 2 === 0 ? protocols : protocols.toReversed()) {
      const began = performance.now()
      const answer = await ask[protocol](server, { model, seed: seed + 10, max_tokens: tokens })
      const took = performance.now() - began
      ids.push(answer.join(","))
      if (seed >= 0) ms[protocol].push(took)
    }
    if (new Set(ids).size > 1) unequal += 1
  }
  for (const protocol of protocols) progress(`${protocol}: ${median(ms[protocol]).toFixed(2)} ms`)
  const against = (protocol: Protocol) => (median(pairwiseRatio(ms[protocol], ms.chat)) - 1) * 100
  return {
    method: [
      `One question to step 0 of a model on heddle/tiny, ${answers} times in each protocol, taking turns; no stream, ${tokens} tokens at most, the same seeds.`,
      "Responses are not stored (store: false), as chats are not.",
    ],
    versions: engineVersions("torch"),
    settings: { model: base.name, answers, tokens },
    measurements: [
      measurement("chat completions", "ms", ms.chat),
      measurement("Responses", "ms", ms.responses),
      measurement("Messages", "ms", ms.messages),
    ],
    bars: [
      atMost("Responses slower than chat", 5, against("responses"), "%"),
      atMost("Messages slower than chat", 5, against("messages"), "%"),
      atMost("questions whose token ids differ by protocol", 0, unequal, "questions"),
    ],
    caveats: [],
  }
}

interface ChatBody {
  model: string
  seed: number
  max_tokens: number
}

/** Asks over one protocol; returns the sampled token ids. */
const ask: Record<Protocol, (server: HeddleServer, request: ChatBody) => Promise<number[]>> = {
  chat: async (server, request) => {
    const body = { ...request, messages: [{ role: "user", content: question }] }
    return (await server.post<ChatAnswer>("/v1/chat/completions", body)).choices[0]?.token_ids ?? []
  },
  responses: async (server, { model, seed, max_tokens: max_output_tokens }) => {
    const body = { model, seed, max_output_tokens, input: question, store: false }
    const { token_generations } = await server.post<ResponsesAnswer>("/v1/responses", body)
    return token_generations.flatMap(({ output_tokens }) => output_tokens.map(({ token_id }) => token_id))
  },
  messages: async (server, request) => {
    const body = { ...request, messages: [{ role: "user", content: question }] }
    return (await server.post<MessagesAnswer>("/v1/messages", body)).token_ids
  },
}
