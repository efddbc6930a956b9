/** Makes one trace of an evaluation: a root, predictions that repeat, and in each an agent with its calls. */
import { PROJECT_ID } from "./read-cases.ts"

export const traceId = "019aa2f1-0000-7000-8000-000000000000"

interface Shape {
  name: string
  ms: number
  inside?: readonly Shape[]
}

const chat = (ms: number): Shape => ({ name: "chat.completions", ms })
const embeds = Array.from({ length: 31 }, () => ({ name: "embed", ms: 20 }))
/** One prediction, of 53 calls. */
const prediction: Shape = {
  name: "Evaluation.predict_and_score",
  ms: 12_000,
  inside: [
    {
      name: "handle_ticket",
      ms: 9_000,
      inside: [
        { name: "classify_intent", ms: 500, inside: [chat(400)] },
        chat(1_800),
        { name: "search_policy", ms: 1_500, inside: [...embeds, { name: "rerank", ms: 300 }] },
        { name: "lookup_order", ms: 700 },
        chat(3_000),
        { name: "send_reply", ms: 200 },
      ],
    },
    { name: "resolved.score", ms: 1_000, inside: [chat(900)] },
    { name: "policy_followed.score", ms: 1_000, inside: [chat(900)] },
    { name: "tone.score", ms: 1_000, inside: [chat(900)] },
  ],
}

/** One call fails in one of so many predictions. */
const failsEach = 60
const started = Date.UTC(2026, 0, 1)
/** Predictions that run at the same time. */
const atOnce = 8

/** Yields batches for `/calls/complete`, of about `count` calls in all. */
export function* evaluationTrace(count: number, batchSize = 1000): Generator<object[]> {
  let batch: object[] = []
  let made = 0
  const idOf = (number: number) => `019aa2f1-0000-7000-8000-${number.toString(16).padStart(12, "0")}`
  const call = (shape: Shape, at: number, parent: number | null, isFailed: boolean): number => {
    const number = (made += 1)
    batch.push({
      project_id: PROJECT_ID,
      id: idOf(number),
      trace_id: traceId,
      parent_id: parent === null ? null : idOf(parent),
      op_name: shape.name,
      started_at: new Date(started + at).toISOString(),
      ended_at: new Date(started + at + shape.ms).toISOString(),
      attributes: {},
      inputs: { number },
      output: isFailed ? null : { answer: number },
      ...(isFailed ? { exception: "Timeout: no answer within 8,000 ms" } : {}),
      summary: {},
    })
    return number
  }
  const predictions = Math.ceil(count / 53)
  const root = call({ name: "Evaluation.evaluate", ms: (predictions / atOnce + 1) * prediction.ms }, 0, null, false)
  for (let number = 0; made < count; number += 1) {
    const left: [Shape, number, number][] = [[prediction, Math.floor((number / atOnce) * prediction.ms), root]]
    for (let next = left.shift(); next !== undefined && made < count; next = left.shift()) {
      const [shape, at, parent] = next
      const own = call(shape, at, parent, shape.name === "rerank" && number % failsEach === failsEach - 1)
      let offset = 50
      for (const inner of shape.inside ?? []) {
        left.push([inner, at + offset, own])
        offset += inner.ms / (shape.inside?.length ?? 1)
      }
      if (batch.length >= batchSize) {
        yield batch
        batch = []
      }
    }
  }
  if (batch.length > 0) yield batch
}
