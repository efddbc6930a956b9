/** Alerts of runs through HTTP, as the wandb client raises them: platform-wandb 5.10. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { ask, dataOf, readRun, type RunNames, startRun } from "../support/wandb-runs.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const newRun = async (project = "alerts"): Promise<RunNames & { id: string }> => {
  const names = { entity: "acme", project, run: randomUUID().slice(0, 8) }
  return { ...names, id: await startRun(opened.acme, names) }
}

interface Alert {
  title: string
  text?: string
  severity?: string
  waitDuration?: number
}

/** The document that the client sends. */
const mutation = `mutation NotifyScriptableRunAlert($entityName: String!, $projectName: String!, $runName: String!,
    $title: String!, $text: String!, $severity: AlertSeverity = INFO, $waitDuration: Duration) {
  notifyScriptableRunAlert(input: { entityName: $entityName, projectName: $projectName, runName: $runName,
      title: $title, text: $text, severity: $severity, waitDuration: $waitDuration }) {
    success
  }
}`

const send = ({ entity, project, run }: RunNames, { text = "text", ...alert }: Alert) =>
  ask(opened.acme, mutation, { entityName: entity, projectName: project, runName: run, text, ...alert })

/** Whether it was kept. */
async function raise(names: RunNames, alert: Alert): Promise<boolean> {
  const answer = await send(names, alert)
  expect(answer.errors).toBeUndefined()
  return (dataOf(answer, "notifyScriptableRunAlert") as { success: boolean }).success
}

async function refusal(names: RunNames, alert: Alert): Promise<string | undefined> {
  const answer = await send(names, alert)
  expect(dataOf(answer, "notifyScriptableRunAlert") ?? null).toBeNull()
  return answer.errors?.[0]?.message
}

interface Page {
  edges: { node: Record<string, unknown> }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

async function alertsOf(names: RunNames, page = "first: 100"): Promise<Page> {
  const fields = "{ edges { node { runName title text severity createdAt } } pageInfo { hasNextPage endCursor } }"
  return (await readRun(opened.acme, names, `alerts(${page}) ${fields}`))["alerts"] as Page
}

const titlesOf = (page: Page) => page.edges.map(({ node }) => node["title"])

test("platform-wandb 5.10: alerts are kept with their run, the newest first, and come in pages", async () => {
  const names = await newRun()
  const began = Date.now()
  expect(await raise(names, { title: "first", text: "é\nline" })).toBe(true)
  expect(await raise(names, { title: "second", severity: "WARN" })).toBe(true)
  expect(await raise(names, { title: "third", severity: "ERROR" })).toBe(true)

  const { edges, pageInfo } = await alertsOf(names)
  const common = { runName: names.run, createdAt: expect.any(String) as unknown }
  expect(edges.map(({ node }) => node)).toEqual([
    { ...common, title: "third", text: "text", severity: "ERROR" },
    { ...common, title: "second", text: "text", severity: "WARN" },
    { ...common, title: "first", text: "é\nline", severity: "INFO" },
  ])
  expect(pageInfo.hasNextPage).toBe(false)
  const times = edges.map(({ node }) => Date.parse(String(node["createdAt"])))
  expect(times.every((time) => time > began - 60_000 && time < Date.now() + 60_000)).toBe(true)

  const page = await alertsOf(names, "first: 2")
  expect([titlesOf(page), page.pageInfo.hasNextPage]).toEqual([["third", "second"], true])
  const rest = await alertsOf(names, `first: 2, after: "${page.pageInfo.endCursor}"`)
  expect([titlesOf(rest), rest.pageInfo.hasNextPage]).toEqual([["first"], false])
})

test("platform-wandb 5.10: a project has the alerts of all its runs, with the names of these", async () => {
  const [one, other] = [await newRun("all-alerts"), await newRun("all-alerts")]
  const elsewhere = await newRun("elsewhere")
  for (const names of [one, other, elsewhere]) await raise(names, { title: "of a run" })
  const { data } = await ask(
    opened.acme,
    '{ project(name: "all-alerts", entityName: "acme") { alerts { edges { node { runName } } } } }',
  )
  expect(data?.["project"]).toEqual({
    alerts: { edges: [{ node: { runName: other.run } }, { node: { runName: one.run } }] },
  })
})

test("platform-wandb 5.10: for the duration that it names, no second alert of its title is kept", async () => {
  const [names, other] = [await newRun(), await newRun()]
  expect(await raise(names, { title: "loss", waitDuration: 60_000 })).toBe(true)
  expect(await raise(names, { title: "loss", waitDuration: 60_000 })).toBe(false)
  expect(await raise(names, { title: "another", waitDuration: 60_000 })).toBe(true)
  expect(await raise(other, { title: "loss", waitDuration: 60_000 })).toBe(true)
  expect(await raise(names, { title: "loss", waitDuration: 1e300 })).toBe(false)
  expect(await raise(names, { title: "loss", waitDuration: 0 })).toBe(true)
  expect(titlesOf(await alertsOf(names))).toEqual(["loss", "another", "loss"])

  const atOnce = Array.from({ length: 8 }, () => raise(names, { title: "at once", waitDuration: 60_000 }))
  expect((await Promise.all(atOnce)).filter((kept) => kept)).toHaveLength(1)
})

test("law 4: an alert that cannot be kept is refused by the name of what is wrong", async () => {
  const names = await newRun()
  expect(await refusal(names, { title: "x".repeat(1001) })).toContain("alert: title: ")
  expect(await refusal(names, { title: "t", text: "x".repeat(100_001) })).toContain("alert: text: ")
  expect(await refusal(names, { title: "t", text: "\u0000" })).toContain("alert: text: not well-formed Unicode")
  expect(await refusal(names, { title: "t", severity: "LOUD" })).toContain("alert: severity: ")
  expect(await refusal(names, { title: "t", waitDuration: -1 })).toContain("alert: waitDuration: ")
  expect(await refusal({ ...names, run: "nowhere" }, { title: "t" })).toContain('no run "nowhere" in "acme/alerts"')
  expect(titlesOf(await alertsOf(names))).toEqual([])
})

test("law 8: a run keeps its newest 500 alerts", async () => {
  const names = await newRun()
  // A document has 20 fields at its root at most.
  for (let from = 0; from < 520; from += 20) {
    const fields = Array.from(
      { length: 20 },
      (_, n) => `a${n}: notifyScriptableRunAlert(input: { entityName: "acme", projectName: "alerts",
        runName: "${names.run}", title: "${from + n}", text: "" }) { success }`,
    )
    expect((await ask(opened.acme, `mutation { ${fields.join("\n")} }`)).errors).toBeUndefined()
  }
  const titles: unknown[] = []
  for (let after: string | null = ""; after !== null;) {
    const page: Page = await alertsOf(names, `first: 100, after: "${after}"`)
    titles.push(...titlesOf(page))
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  }
  expect(titles).toEqual(Array.from({ length: 500 }, (_, n) => String(519 - n)))
})

test("platform-wandb 5.11: the alerts of a deleted run go with it, and are counted no more", async () => {
  const stored = async () => {
    const { body } = await opened.acme.get("/v1/organization/teams/acme/quotas")
    const { quotas } = body as { quotas: { name: string; used: number }[] }
    return quotas.find(({ name }) => name === "stored_bytes")?.used ?? expect.unreachable()
  }
  const before = await stored()
  const names = await newRun("deleted")
  const withRun = await stored()
  await raise(names, { title: "title", text: "x".repeat(9000) })
  expect((await stored()) - withRun).toBe(9005)

  const removal = "mutation($input: DeleteRunInput!) { deleteRun(input: $input) { clientMutationId } }"
  expect((await ask(opened.acme, removal, { input: { id: names.id } })).errors).toBeUndefined()
  await startRun(opened.acme, { ...names, config: "" })
  expect(titlesOf(await alertsOf(names))).toEqual([])
  expect((await stored()) - before).toBeLessThan(1000)
})

test("security 5.3: another team raises no alert on a run, and reads none", async () => {
  const names = await newRun()
  await raise(names, { title: "secret" })
  const { entity, project, run } = names
  const variables = { entityName: entity, projectName: project, runName: run, title: "of a rival", text: "" }
  const { data, errors } = await ask(opened.rival, mutation, variables)
  expect([data?.["notifyScriptableRunAlert"] ?? null, errors?.[0]?.message]).toEqual([
    null,
    expect.stringContaining("no run"),
  ])
  const read = await ask(
    opened.rival,
    '{ project(name: "alerts", entityName: "acme") { alerts { edges { cursor } } } }',
  )
  expect(dataOf(read, "project")).toBeNull()
  expect(titlesOf(await alertsOf(names))).toEqual(["secret"])
})
