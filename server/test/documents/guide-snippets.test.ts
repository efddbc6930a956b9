/** The shell blocks of README and guides run unchanged against a server, those of a page one after the other. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { uuid, writeCalls } from "../support/completed-call.ts"
import {
  type EvaluationApp,
  type EvaluationCaller,
  evaluationCaller,
  openEvaluationApp,
} from "../support/evaluation-app.ts"
import { blocksOf, guidePages, isPython, isShell, runShellBlocks, shells } from "../support/guide-blocks.ts"
import { evaluation, judge, publish, publishDataset, structuredModel } from "../support/judges.ts"

let opened: EvaluationApp
let admin: EvaluationCaller
let url: string
beforeAll(async () => {
  opened = await openEvaluationApp({}, new FakeEngine())
  admin = evaluationCaller(() => opened.app, opened.admin)
  url = await opened.app.server.listen({ host: "127.0.0.1", port: 0 })
})
afterAll(() => opened.close())

const printedBy = (guide: string, more: { given?: Record<string, string>; folder?: string } = {}) =>
  runShellBlocks(`docs/guide/${guide}`, { url, key: opened.admin.key, ...more })

const parsed = (lines: string[]) => lines.map((line) => JSON.parse(line) as unknown)

/** Runs `work` in a new folder, which is deleted afterwards. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-guide-"))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test("find-it-again: each request finds what the guide says", { timeout: 300_000 }, async () => {
  const [stored, projects, failed, byAda, slow, slower, count, price, call, stats, byOp, ...more] = parsed(
    await printedBy("find-it-again.md"),
  )
  expect(more).toEqual([])
  expect(stored).toEqual({})
  expect(projects).toMatchObject({ data: [{ name: "found" }] })
  expect(failed).toMatchObject({ exception: "ZeroDivisionError: division by zero", inputs: { question: "1/0=" } })
  expect(byAda).toMatchObject({ id: "01947f3a-0000-7000-8000-000000000001", inputs: { question: "4+5=" } })
  expect([slow, slower]).toMatchObject([
    { id: "01947f3a-0000-7000-8000-000000000001" },
    { id: "01947f3a-0000-7000-8000-000000000003" },
  ])
  expect(count).toMatchObject({ count: 3 })
  expect(price).toMatchObject({ ids: [[expect.any(String), "my-model"]] })
  expect(call).toMatchObject({
    call: { summary: { weave: { costs: { "my-model": { prompt_tokens_total_cost: 0.001 } } } } },
  })
  expect(stats).toMatchObject({
    usage_buckets: [{ sum_total_tokens: 3300, sum_total_cost: expect.closeTo(0.0036, 9) }],
  })
  expect(byOp).toMatchObject({
    usage_buckets: [{ trace_op: "answer", sum_total_cost: expect.closeTo(0.0036, 9), sum_unpriced_calls: 0 }],
  })
})

test(
  "accounts: three users in one team, in roles, with keys of scopes, a program and somebody invited",
  { timeout: 300_000 },
  async () => {
    const [team, ...printed] = parsed(await printedBy("accounts.md"))
    const users = printed.slice(0, 6)
    const [ada, ben, cem, project, pilot, roles, scoped, keysListed, program, nightly, signedUp] = printed.slice(6)
    expect(team).toMatchObject({ object: "organization.team", name: "labelling" })
    expect(users).toMatchObject(
      ["ada", "ben", "cem"].flatMap((username) => [
        { username, entities: ["labelling", username].toSorted() },
        { username, name: "laptop" },
      ]),
    )
    const keys = users.flatMap((one) => ("value" in (one as object) ? [(one as { value: string }).value] : []))
    const callers = keys.map((key) => evaluationCaller(() => opened.app, { ...opened.admin, key }))
    const members = await Promise.all(callers.map((caller) => caller.get("/v1/organization/teams/labelling/members")))
    expect(members).toHaveLength(3)
    for (const { body } of members) {
      expect(body).toMatchObject({
        data: [
          { username: "ada", role: "admin" },
          { username: "admin", role: "admin" },
          { username: "ben", role: "viewer" },
          { username: "cem", role: "annotator" },
          { username: "ci@labelling", role: "service_account" },
          { username: "dana", role: "annotator" },
        ],
      })
    }
    expect([ada, ben, cem]).toMatchObject([{ role: "admin" }, { role: "viewer" }, { role: "annotator" }])
    expect([project, pilot]).toMatchObject([
      { name: "pilot" },
      { username: "ben", role: "member", team_role: "viewer" },
    ])
    expect(roles).toMatchObject({ data: expect.arrayContaining([pilot]) })
    expect([scoped, nightly]).toMatchObject([
      { username: "ada", scope: "ingest", expires_at: "2999-01-01T00:00:00.000Z" },
      { username: "ci@labelling", scope: "ingest" },
    ])
    expect(keysListed).toMatchObject({ data: expect.arrayContaining([expect.objectContaining({ scope: "ingest" })]) })
    expect(program).toMatchObject({ username: "ci@labelling" })
    expect(signedUp).toMatchObject({ user: { username: "dana", entities: ["dana", "labelling"] } })
  },
)

test(
  "operating: a request makes a backup; calls of a project are kept for so many days",
  { timeout: 300_000 },
  async () => {
    const [made, ...more] = parsed(await printedBy("operating.md"))
    expect(made).toMatchObject({ object: "organization.backup" })
    const listed = await opened.admin.get("/v1/organization/backups")
    expect(listed.body).toEqual({ object: "list", data: [made] })
    expect(more).toEqual([{ retention_days: 90 }])
    const kept = await admin.post("/project/ttl_settings/read", { project_id: "local/demo" })
    expect(kept.body).toEqual({ retention_days: 90 })
  },
)

test("export: calls leave as CSV and come back into another project", { timeout: 300_000 }, async () => {
  await admin.post("/v1/organization/teams", { name: "team" })
  await writeCalls(admin, "team/project", [{ id: 11 }, { id: 12, parent: 11 }])
  await inFolder(async (folder) => {
    await printedBy("export.md", { folder })
    const rows = (await readFile(path.join(folder, "roots.csv"), "utf8")).trim().split("\n")
    expect(rows).toHaveLength(2)
    expect(rows[1]).toContain(uuid(11))
  })
  expect(await admin.lines("/calls/stream_query", { project_id: "team/copy" })).toMatchObject([{ op_name: "op" }])
})

test("labelling: an annotator's label is stored, and the item completed", { timeout: 300_000 }, async () => {
  const project_id = "local/demo"
  await writeCalls(admin, project_id, [{ id: 21 }])
  const printed = parsed(await printedBy("labelling.md", { given: { CALL: uuid(21) } }))
  expect(printed.length).toBeGreaterThan(3)
  const { body } = await admin.post("/feedback/query", { project_id })
  expect(body).toMatchObject({
    result: [
      {
        weave_ref: `weave:///local/demo/call/${uuid(21)}`,
        feedback_type: "wandb.annotation.tone",
        payload: { value: "kind" },
      },
    ],
  })
  expect(JSON.stringify(printed.at(-1))).toContain("completed")
})

test("online-scoring: a call that comes is scored by a rule", { timeout: 300_000 }, async () => {
  expect(await printedBy("online-scoring.md")).toEqual(["{}"])
  const { body } = await admin.post("/feedback/query", { project_id: "local/scored" })
  expect(body).toMatchObject({ result: [{ feedback_type: "wandb.runnable.short", payload: { output: true } }] })
})

test("train-from-labels: labels become a job, and the job says what it is made of", { timeout: 300_000 }, async () => {
  const [stored, right, wrong, dryRun, rows, uses, byReward, storedToo, liked, disliked, inPairs, ...more] = parsed(
    await printedBy("train-from-labels.md"),
  )
  expect(more).toEqual([])
  expect([stored, storedToo]).toEqual([{}, {}])
  expect([liked, disliked]).toMatchObject([{ id: expect.any(String) }, { id: expect.any(String) }])
  expect(inPairs).toMatchObject({
    kind: "dpo",
    read: 5,
    pairs: 1,
    drops: [{ cause: "no_score", count: 2 }, { cause: "failed" }],
    preview: [{ answer: "6", rejected: "six or so" }],
  })
  expect([right, wrong]).toMatchObject([{ id: expect.any(String) }, { id: expect.any(String) }])
  expect(dryRun).toMatchObject({
    read: 3,
    rows: 2,
    corrected: 1,
    drops: [{ cause: "failed", count: 1 }],
    preview: [{ answer: "9" }, { answer: "8", is_corrected: true }],
  })
  expect(rows).toMatchObject({ data: [{ row: 0 }, { row: 1, is_corrected: true }] })
  expect(uses).toMatchObject({ uses: [{ row: 1, model: "adder" }], is_complete: true })
  expect(byReward).toMatchObject({
    kind: "rl",
    rows: 0,
    drops: [{ cause: "no_tokens", count: 2 }, { cause: "failed" }],
  })
})

test("outages: health says how the server is", { timeout: 300_000 }, async () => {
  expect((await printedBy("outages.md"))[0]).toContain("200 OK")
})

test(
  "server-runs: a recorded completion, a runtime, judged calls, an evaluated model",
  { timeout: 300_000 },
  async () => {
    const project_id = "local/demo"
    await writeCalls(admin, project_id, [{ id: 31 }])
    const scorer = await publish(admin, project_id, "helpful", judge("Is {output} helpful?"))
    const dataset = await publishDataset(admin, project_id, [{ question: "4+5=" }])
    await publish(admin, project_id, "my-evaluation", evaluation(dataset, [scorer]))
    const messages_template = [{ role: "user", content: "{question}" }]
    await publish(admin, project_id, "my-model", structuredModel({ messages_template }))
    const [completion, runtime, scored, evaluated, ...more] = parsed(
      await printedBy("server-runs.md", { given: { CALL: uuid(31) } }),
    )
    expect(more).toEqual([])
    expect(completion).toMatchObject({ response: { choices: [{}] }, weave_call_id: expect.any(String) })
    expect(runtime).toMatchObject({ runtime_ids: [{ playground_id: "custom::agent::support-v12" }] })
    expect(scored).toEqual({})
    expect(evaluated).toMatchObject({ call_id: expect.any(String) })
  },
)

test("rollouts: two attempts are gathered, rewarded, read and trained", async () => {
  const [model, ...answers] = parsed(await printedBy("rollouts.md"))
  expect(model).toMatchObject({ project: "shop", name: "clerk" })
  const [one, other, first, second, list, rollout, turns, made, ...others] = answers
  const [, , liked, judged, job, ...more] = others
  expect(more).toEqual([])
  expect(liked).toMatchObject({ id: expect.any(String) })
  expect(judged).toMatchObject({
    read: 3,
    rows: 1,
    drops: [{ cause: "no_score", count: 2 }],
    preview: [{ id: "order-18-1", score: 1 }],
  })
  expect([one, other]).toMatchObject([{ object: "chat.completion" }, { object: "chat.completion" }])
  expect([first, second]).toMatchObject([
    { reward: 1, key: "checker", metrics: { exact: 1 } },
    { reward: 0, reason: "wrong sum" },
  ])
  expect(list).toMatchObject({ data: [{ id: "order-17-2" }, { id: "order-17-1" }] })
  expect(rollout).toMatchObject({ reward: 1, group: "order-17", issues: [], turns: 1 })
  expect(turns).toMatchObject({ data: [{ is_finished: true, messages: [{ content: "4+5=" }] }] })
  expect([made, job]).toMatchObject([
    { object: "training_job", kind: "rl" },
    { object: "training_job", kind: "rl" },
  ])
})

test("training-data: the row of the guide is uploaded, and a job made of it", { timeout: 300_000 }, async () => {
  const row = (await blocksOf("docs/guide/training-data.md")).find(({ language }) => language === "json")?.code ?? ""
  const names = { project: "guides", name: "sft", base_model: "heddle/tiny" }
  const { id: MODEL } = (await opened.admin.post("/v1/preview/models", names)).body as { id: string }
  await inFolder(async (folder) => {
    await writeFile(path.join(folder, "train.jsonl"), row)
    const form = new FormData()
    form.set("purpose", "fine-tune")
    form.set("file", new Blob([row]), "train.jsonl")
    const headers = { authorization: `Bearer ${opened.admin.key}` }
    const sent = await fetch(`${url}/v1/files`, { method: "POST", headers, body: form })
    const { id: FILE } = (await sent.json()) as { id: string }
    const [file, job] = parsed(await printedBy("training-data.md", { folder, given: { MODEL, FILE } }))
    expect(file).toMatchObject({ object: "file", filename: "train.jsonl", bytes: row.length })
    expect(job).toMatchObject({ object: "training_job", model_id: MODEL })
  })
})

test("agents-mcp: a key for an agent is made, and a tool answers", { timeout: 300_000 }, async () => {
  const [key, answer] = parsed(await printedBy("agents-mcp.md"))
  expect(key).toMatchObject({ name: "coding agent", scope: "label" })
  expect(answer).toMatchObject({ id: 1, result: { structuredContent: { projects: expect.any(Array) } } })
})

test("clients and opentelemetry: a shell accepts the variables that they export", { timeout: 300_000 }, async () => {
  for (const guide of ["clients.md", "opentelemetry.md"]) expect(await printedBy(guide)).toEqual([])
})

/**
 * Guides whose shell blocks the tests above run. Python blocks run in compat/python/guide_blocks.py, with their client.
 */
const ranAbove =
  "accounts agents-mcp clients export find-it-again labelling online-scoring opentelemetry operating outages rollouts server-runs train-from-labels training-data".split(
    " ",
  )
const clients = /^(?:from|import) (?:weave|openai|anthropic|opentelemetry)\b/m

test("a page sets every variable that its shell blocks read, also in blocks that no test runs", async () => {
  const unset: string[] = []
  for (const page of await guidePages()) {
    const blocks = await blocksOf(page)
    const code = blocks.flatMap((block) => (shells.includes(block.language) ? [block.code] : [])).join("\n")
    const set = new Set([...code.matchAll(/\b([A-Z][A-Z_]*)=/g)].map(([, name]) => name))
    const read = new Set([...code.matchAll(/\$\{?([A-Z][A-Z_]*)/g)].map(([, name]) => name))
    unset.push(...[...read].flatMap((name) => (set.has(name) ? [] : [`${page}: ${name}`])))
  }
  expect(unset).toEqual([])
})

test("every block is run, or says why not", async () => {
  const blocks = (await Promise.all((await guidePages()).map(blocksOf))).flat()
  const pages = new Set(blocks.filter(isShell).map(({ page }) => page))
  expect([...pages].toSorted()).toEqual(ranAbove.map((name) => `docs/guide/${name}.md`))
  // A Python block that imports no client continues an earlier block of its page that imports one.
  const begun = new Set(blocks.filter((block) => isPython(block) && clients.test(block.code)).map(({ page }) => page))
  const unknown = blocks.filter((block) => isPython(block) && !begun.has(block.page))
  expect(unknown).toEqual([])
})
