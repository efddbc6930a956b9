/** An agent over the npm openai client, which knows nothing of Heddle, learns from its rollouts and later rewards. */
import OpenAI from "openai"
import { expect, inject, test } from "vitest"
import { covers } from "./covers.ts"
import { type Attempt, ENOUGH, heldOutRewards } from "./trained-agent.ts"

async function agent({ question, model, seed, headers }: Attempt): Promise<string> {
  const { url, key } = inject("server")
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, defaultHeaders: headers })
  const stream = await client.chat.completions.create({
    model,
    messages: [{ role: "user", content: question }],
    max_completion_tokens: 24,
    seed,
    stream: true,
  })
  let answer = ""
  for await (const chunk of stream) answer += chunk.choices[0]?.delta.content ?? ""
  return answer
}

/** 1 when the answer has the words in reverse order, else 0. */
function reward(question: string, answer: string): number {
  return answer === question.replace("Reverse: ", "").split(" ").toReversed().join(" ") ? 1 : 0
}

const colours = ["red", "green", "blue", "black", "white", "pink", "brown", "gold"]
const questions = colours
  .flatMap((first) => colours.flatMap((second) => colours.map((third) => [first, second, third])))
  .filter((words) => new Set(words).size === 3)
  .map((words) => `Reverse: ${words.join(" ")}`)
/** Each question once, in an order that mixes their first words: 137 and 336 share no divisor. */
const mixed = questions.map((_, place) => questions[(place * 137) % 336] ?? "")

test(
  `${covers("agent-openai-node")} the agent gets better by its rollouts and rewards`,
  { timeout: 600_000 },
  async () => {
    const course = { agent, reward, train: mixed.slice(24), heldOut: mixed.slice(0, 24) }
    const [before = 1, ...later] = await heldOutRewards("node-agent", course)
    expect(later.at(-1)).toBeGreaterThanOrEqual(before + ENOUGH)
  },
)
