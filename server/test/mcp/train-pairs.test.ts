/** Training on preferences through the tools of coding agents, with the real engine. */
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { listening, type McpCaller, mcpCaller, scopedKey } from "../support/mcp-client.ts"
import { TrainFromApp } from "../support/training-from.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

let from: TrainFromApp
let agent: McpCaller
beforeAll(async () => {
  from = await TrainFromApp.open({ engine: "process", python })
  agent = await mcpCaller(await listening(from.opened), await scopedKey(from.acme, "train"))
}, 60_000)
afterAll(() => from.close())

const score = [{ field: "feedback.[quality].payload.value" }]

/** Two answers to each of two questions; the first of each is scored 1, the other `worse`. */
async function answered(worse: number) {
  const { project, model } = await from.world()
  await from.store(project, [
    { question: "4+5=", answer: "9" },
    { question: "4+5=", answer: "banana" },
    { question: "2+6=", answer: "8" },
    { question: "2+6=", answer: "seven" },
  ])
  for (const call of [1, 2, 3, 4]) await from.score(project, call, call % 2 === 1 ? 1 : worse)
  return { model_id: model, source: { kind: "calls", project } }
}

test("a dry run says the pairs, the job learns from them, and its curves tell how far apart the answers are", async () => {
  const job = {
    ...(await answered(0)),
    target: { kind: "dpo", pairs: { from: "score", score }, beta: 0.5, reference: "base" },
    config: { batch_size: 2, learning_rate: 1e-3 },
  }
  expect(await agent.use("dry_run_training", job)).toMatchObject({
    kind: "dpo",
    rows: 4,
    pairs: 2,
    preview: [
      { question: "4+5=", answer: "9", rejected: "banana" },
      { question: "2+6=", answer: "8", rejected: "seven" },
    ],
  })
  const { job_id } = await agent.use<{ job_id: string }>("start_training", job)
  type Status = { job: { status: string }; metrics: { metric: string }[] }
  const status = () => agent.use<Status>("job_status", { job_id })
  await vi.waitUntil(async () => !["queued", "running"].includes((await status()).job.status), {
    timeout: 60_000,
    interval: 100,
  })
  const { job: ended, metrics } = await status()
  expect(ended).toMatchObject({ job_id, kind: "dpo", status: "succeeded", output_step: 1 })
  expect(metrics.map(({ metric }) => metric)).toEqual(expect.arrayContaining(["accuracy", "reward_margin"]))
  const { body } = await from.acme.get(`/v1/preview/training-jobs/${job_id}/rows`)
  expect(body).toMatchObject({ target: { kind: "dpo", beta: 0.5, reference: "base" }, summary: { pairs: 2 } })
}, 120_000)

describe("what cannot be trained on is refused with the way out, and no job is made", () => {
  test("answers without contrast", async () => {
    const job = { ...(await answered(1)), target: { kind: "dpo", pairs: { from: "score", score } } }
    expect(await agent.use("dry_run_training", job)).toMatchObject({
      rows: 0,
      pairs: 0,
      groups_without_contrast: 2,
      drops: [{ cause: "tie", count: 4, reason: "Neither answer is better than the other." }],
    })
    expect(await agent.refusal("start_training", job)).toBe(
      "start_training: body.target: nothing of the 4 rows is left to train on. 4: Neither answer is better than the other. (status 422)",
    )
    expect(await from.jobsOf(job.model_id)).toBe(0)
  })

  test.each([
    [{ kind: "dpo" }, "target.pairs: Field required"],
    [{ kind: "dpo", pairs: { from: "score", score }, bta: 0.5 }, 'target: Unrecognized key: "bta"'],
    [{ kind: "dpo", pairs: { from: "score", scores: score } }, /target\.pairs.*: Unrecognized key: "scores"/],
    [{ kind: "dpo", pairs: { from: "coin" } }, /target\.pairs\.from/],
    [{ kind: "dpo", pairs: { from: "score", score }, beta: 0 }, /target\.beta: Too small/],
    [{ kind: "dpo", pairs: { from: "fields" } }, /target\.pairs: name a field with the better answer in chosen/],
  ])("%j", async (target, expected) => {
    const { project, model } = await from.world()
    await from.store(project, [{ question: "4+5=", answer: "9" }])
    for (const tool of ["dry_run_training", "start_training"]) {
      const said = await agent.refusal(tool, { model_id: model, source: { kind: "calls", project }, target })
      if (typeof expected === "string") expect(said).toContain(`${tool}: ${expected}`)
      else expect(said).toMatch(expected)
    }
    expect(await from.jobsOf(model)).toBe(0)
  })
})

test("the tools take each source and each target that the route takes, field by field", async () => {
  const { body } = await from.acme.get("/openapi.json")
  const { schemas } = (body as { components: { schemas: Record<string, Part> } }).components
  const { tools } = await agent.client.listTools()
  const input = tools.find(({ name }) => name === "start_training")?.inputSchema as unknown as Input
  const ofTool = new Reader(input.$defs)
  const ofRoute = new Reader(schemas)
  const route = ofRoute.fields({ $ref: "#/components/schemas/TrainFromBody" })
  expect(ofTool.kinds(input.properties["target"])).toEqual(ofRoute.kinds(route["target"]))
  const sources = ofRoute.kinds(route["source"])
  const named = Object.entries(sources).map(([kind, fields]) => [
    kind,
    fields.map((field) => (field === "project_id" ? "project" : field)).toSorted(),
  ])
  // Calls are chosen by conditions in place of `filter` and `query`.
  const { calls: _, ...others } = Object.fromEntries(named) as Record<string, string[]>
  const { calls, ...known } = ofTool.kinds(input.properties["source"])
  expect(calls).toContain("where")
  expect(known).toEqual(others)
})

interface Part {
  $ref?: string
  oneOf?: Part[]
  properties?: Record<string, Part & { const?: string }>
}

interface Input {
  properties: Record<string, Part>
  $defs: Record<string, Part>
}

class Reader {
  readonly #named: Record<string, Part>

  constructor(named: Record<string, Part>) {
    this.#named = named
  }

  #of(part: Part | undefined): Part {
    if (part?.$ref === undefined) return part ?? {}
    return this.#named[part.$ref.slice(part.$ref.lastIndexOf("/") + 1)] ?? {}
  }

  fields(part: Part | undefined): NonNullable<Part["properties"]> {
    return this.#of(part).properties ?? {}
  }

  /** Names of fields by the kind that they belong to. */
  kinds(part: Part | undefined): Record<string, string[]> {
    const kinds = (this.#of(part).oneOf ?? []).map((one) => {
      const fields = this.fields(one)
      return [fields["kind"]?.const ?? "", Object.keys(fields).toSorted()] as const
    })
    return Object.fromEntries(kinds)
  }
}
