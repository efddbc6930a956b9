/**
 * Trains an agent whose program knows nothing of training: it sends attempts with rollout ids, rewards follow, and a
 * job is made of both. `compat/python/trained_agent.py` does the same for agents in Python, with the same numbers.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { inject } from "vitest"

const GROUPS = 12
const ATTEMPTS = 8
const LEARNING_RATE = 4e-3
const ROUNDS = 16
const ROUNDS_BETWEEN_MEASUREMENTS = 4
const ANSWERS_MEASURED = 120
/** A rise of the reward that is not chance: the error of a measurement is about 0.06. */
export const ENOUGH = 0.2

/** A question to an agent, its model, a seed, and headers for each of its calls. */
export interface Attempt {
  question: string
  model: string
  seed: number
  headers: Record<string, string>
}

export interface Course {
  agent: (attempt: Attempt) => Promise<string>
  reward: (question: string, answer: string) => number
  train: string[]
  heldOut: string[]
}

/**
 * Trains a new model until it is better by ENOUGH; returns the rewards of held-out questions before, between and after.
 */
export async function heldOutRewards(name: string, course: Course): Promise<number[]> {
  const asked = { project: "compat", name, base_model: "heddle/tiny" }
  const { id } = await post<{ id: string }>("/v1/preview/models", asked)
  const model = `wandb-artifact:///local/compat/${name}`
  const before = await measure(model, course)
  const measured = [before]
  for (let round = 0; round < ROUNDS; round++) {
    const attempts = attemptsOf(round, model, course)
    const rewards = await rewardsOf(attempts, course)
    for (const [place, { headers }] of attempts.entries()) {
      await post(`/v1/rollouts/${headers["x-heddle-rollout-id"]}/reward`, { reward: rewards[place] })
    }
    await train(id, round)
    if ((round + 1) % ROUNDS_BETWEEN_MEASUREMENTS > 0) continue
    const now = await measure(model, course)
    measured.push(now)
    if (now >= before + ENOUGH) break
  }
  return measured
}

/** The mean reward of held-out questions. Its calls have no rollout ids, so nothing trains on them. */
async function measure(model: string, course: Course): Promise<number> {
  const seeds = Array.from({ length: Math.floor(ANSWERS_MEASURED / course.heldOut.length) }, (_, seed) => seed)
  const attempts = course.heldOut.flatMap((question) => seeds.map((seed) => ({ question, model, seed, headers: {} })))
  const rewards = await rewardsOf(attempts, course)
  return rewards.reduce((sum, one) => sum + one, 0) / rewards.length
}

/** Attempts of a round; those at one question are a group, in which answers with a larger reward become likelier. */
function attemptsOf(round: number, model: string, { train: questions }: Course): Attempt[] {
  return Array.from({ length: GROUPS * ATTEMPTS }, (_, place) => {
    const group = Math.floor(place / ATTEMPTS)
    const question = questions[(GROUPS * round + group) % questions.length] ?? ""
    const headers = { "x-heddle-rollout-id": `node-${round}-${place}`, "x-heddle-rollout-group": `${round}-${group}` }
    return { question, model, seed: 1000 * round + place, headers }
  })
}

const rewardsOf = (attempts: Attempt[], { agent, reward }: Course) =>
  Promise.all(attempts.map(async (attempt) => reward(attempt.question, await agent(attempt))))

/** Runs one job on all attempts of this step of the model; resolves when the next step answers. */
async function train(model_id: string, step: number): Promise<void> {
  const { id } = await post<{ id: string }>("/v1/preview/training-jobs/from-source", {
    model_id,
    source: { kind: "rollouts", project_id: "local/compat", step },
    target: { kind: "rl", reward: [{ field: "rollout.reward" }] },
    experimental_config: { learning_rate: LEARNING_RATE },
  })
  for (;;) {
    const { status } = await request<{ status: string }>("GET", `/v1/preview/training-jobs/${id}`)
    if (status === "succeeded") return
    if (status === "failed") throw new Error(`job ${id} has failed`)
    await sleep(100)
  }
}

const post = <T>(path: string, body: object) => request<T>("POST", path, JSON.stringify(body))

async function request<T>(method: string, path: string, body?: string): Promise<T> {
  const { url, key } = inject("server")
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const answer = await fetch(`${url}${path}`, { method, headers, body: body ?? null })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}
