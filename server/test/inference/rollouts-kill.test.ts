/** Law 1: answers under a rollout's id, and its rewards, are there after SIGKILL at any moment. */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import type { ReadRollout, Turn } from "../support/rollouts.ts"
import { call, type RunningServer, startServer } from "../support/server-process.ts"
import { adminKey } from "../support/test-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")
const rounds = process.env["HEDDLE_SLOW_TESTS"] === undefined ? 2 : 10

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-rollouts-killed-"))
  await copyCatalogTemplate(dataDir)
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const start = () => startServer(dataDir, { HEDDLE_PYTHON: python, HEDDLE_LOG: "fatal" })

interface Acknowledged {
  rollout: string
  id: string
  ids: number[]
}

/** Sends chats, streamed and not, until the server is killed; keeps the answers that were complete. */
async function agent(
  server: RunningServer,
  model: string,
  rollout: string,
  answered: Acknowledged[],
  rewarded: Map<string, number>,
) {
  for (let turn = 0; ; turn++) {
    try {
      const stream = turn % 2 === 1
      const answer = await fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${adminKey}`,
          "content-type": "application/json",
          "x-heddle-rollout-id": rollout,
        },
        body: JSON.stringify({ model, messages: [{ role: "user", content: `${turn}+1=` }], max_tokens: 4, stream }),
      })
      const text = await answer.text()
      expect([answer.status, text]).toEqual([200, expect.any(String)])
      const sampled = stream ? ofStream(text) : ofAnswer(text)
      if (sampled !== null) answered.push({ rollout, ...sampled })
      const { status } = await call(server, "POST", `/v1/rollouts/${rollout}/reward`, { reward: turn, key: `${turn}` })
      expect(status).toBe(200)
      rewarded.set(rollout, turn)
    } catch (error) {
      if (!server.process.killed) throw error
      return
    }
  }
}

interface Choices {
  id: string
  choices: { token_ids?: number[] }[]
}

function ofAnswer(text: string): Omit<Acknowledged, "rollout"> {
  const { id, choices } = JSON.parse(text) as Choices
  return { id, ids: choices[0]?.token_ids ?? [] }
}

/** The answer of a stream; null when it broke off, so that nothing of it was acknowledged. */
function ofStream(text: string): Omit<Acknowledged, "rollout"> | null {
  const lines = text.split("\n").filter((line) => line.startsWith("data: "))
  if (lines.at(-1) !== "data: [DONE]") return null
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice(6)) as Choices)
  return { id: chunks[0]?.id ?? "", ids: chunks.flatMap(({ choices }) => choices[0]?.token_ids ?? []) }
}

test(
  `kill -9 among chats and rewards, ${rounds} times: every answer is a turn with its tokens`,
  { timeout: 300_000 },
  async () => {
    const answered: Acknowledged[] = []
    const rewarded = new Map<string, number>()
    let model = ""
    for (let round = 0; round < rounds; round++) {
      const server = await start()
      const body = { project: "p", name: "m", base_model: "heddle/tiny", return_existing: true }
      expect((await call(server, "POST", "/v1/preview/models", body)).status).toBe(200)
      model = "wandb-artifact:///local/p/m"
      const agents = [0, 1, 2].map((one) => agent(server, model, `r-${round}-${one}`, answered, rewarded))
      const before = answered.length
      await expect.poll(() => answered.length, { timeout: 120_000 }).toBeGreaterThan(before + 6 + round)
      server.process.kill("SIGKILL")
      await once(server.process, "exit")
      await Promise.all(agents)
    }
    const server = await start()
    const turns = new Map<string, Turn>()
    for (const rollout of new Set(answered.map((one) => one.rollout))) {
      const { status, body } = await call(server, "GET", `/v1/rollouts/${rollout}/turns?tokens=true&limit=100`)
      expect(status).toBe(200)
      for (const turn of (body as { data: Turn[] }).data) turns.set(turn.id, turn)
    }
    const kept = answered.map(({ rollout, id }) => ({
      rollout,
      id,
      ids: turns.get(id)?.choices?.[0]?.token_ids ?? null,
    }))
    expect(kept).toEqual(answered)
    for (const [rollout, reward] of rewarded) {
      const { body } = await call(server, "GET", `/v1/rollouts/${rollout}`)
      // The server may have stored one more reward than it acknowledged.
      const { reward: last, rewards } = body as ReadRollout
      expect(rewards.map((one) => one.reward)).toContain(reward)
      expect([reward, reward + 1]).toContain(last)
    }
    server.process.kill("SIGTERM")
    expect(await once(server.process, "exit")).toEqual([0, null])
  },
)
