/**
 * Takes pictures of a running server's screens, in both themes, with the data of one project.
 *
 * Usage: node scripts/pictures.ts --url http://127.0.0.1:8080 --key KEY --project local/demo --out docs/pictures
 *   [--only traces,trace] [--theme light] [--width 390] [--format webp]
 * Each screen that the project has something for becomes NAME-light.png and NAME-dark.png; the others are named and
 * left out. scripts/picture-project.ts starts a server with a project that has something for all of them.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import { launchBrowser, type Visit, wide } from "../web/browser/support/browser.ts"

const { values: given } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:8080" },
    key: { type: "string", default: process.env["HEDDLE_API_KEY"] ?? "" },
    project: { type: "string", default: "local/demo" },
    out: { type: "string", default: "docs/pictures" },
    only: { type: "string" },
    theme: { type: "string" },
    width: { type: "string", default: String(wide.width) },
    /** webp is a third as large. */
    format: { type: "string", default: "png" },
  },
})
const { url, key, project, out } = given

async function ask<Answer>(method: "GET" | "POST", place: string, body?: object): Promise<Answer> {
  const response = await fetch(url + place, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${place} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Answer
}

/** The answer's JSON Lines. */
async function askLines<Line>(place: string, body: object): Promise<Line[]> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const response = await fetch(url + place, { method: "POST", headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${place} answered ${response.status}: ${text}`)
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]))
}

interface Listed {
  id: string
  name: string
}

interface Call {
  id: string
  trace_id: string
  op_name: string
  inputs: unknown
  output: unknown
}

const runNames = `query($entity: String!, $name: String!, $filters: JSONString) {
  project(entityName: $entity, name: $name) { runs(first: 50, filters: $filters) { edges { node { name } } } } }`
const finished = JSON.stringify({ state: "finished" })
interface RunNames {
  data: { project: { runs: { edges: { node: { name: string } }[] } } }
}

type Page = Visit["page"]

interface Screen {
  /** The path after the project's own; null where the project has nothing to show. */
  address: string | null
  /** What a person does there first. */
  act?: (page: Page) => Promise<unknown>
}

const newest = [{ field: "started_at", direction: "desc" }]

const at = (address: string, act?: Screen["act"]): Screen => (act === undefined ? { address } : { address, act })
const where = <Found>(found: Found | undefined, address: (found: Found) => string, act?: Screen["act"]): Screen =>
  found === undefined ? { address: null } : at(address(found), act)

async function screens(): Promise<Record<string, Screen>> {
  const [entity, name = ""] = project.split("/")
  const ended = { $expr: { $eq: [{ $getField: "summary.weave.status" }, { $literal: "success" }] } }
  const calls = async (filter: object, limit: number) => {
    const body = { project_id: project, filter, query: ended, sort_by: newest, limit }
    return (await ask<{ calls: Call[] }>("POST", "/calls/query", body)).calls
  }
  const evaluate = `weave:///${project}/op/Evaluation.evaluate:*`
  const [roots, tried, models, jobs, { objs }, queues, talks, runs] = await Promise.all([
    calls({ trace_roots_only: true }, 20),
    calls({ op_names: [evaluate] }, 2),
    ask<{ data: Listed[] }>("GET", `/v1/preview/models?project=${name}`),
    ask<{ data: { id: string; model: string }[] }>("GET", `/v1/preview/training-jobs?project=${name}&status=succeeded`),
    ask<{ objs: { object_id: string; digest: string; base_object_class: string | null }[] }>("POST", "/objs/query", {
      project_id: project,
      filter: { latest_only: true },
      metadata_only: true,
    }),
    askLines<Listed>("/annotation_queues/query", { project_id: project }),
    ask<{ groups: { group_keys: { conversation_id: string } }[] }>("POST", "/agents/spans/query", {
      project_id: project,
      group_by: [{ source: "field", key: "conversation_id" }],
      query: { $expr: { $not: [{ $eq: [{ $getField: "conversation_id" }, { $literal: "" }] }] } },
      sort_by: [{ field: "span_count", direction: "desc" }],
      limit: 1,
    }),
    ask<RunNames>("POST", "/graphql", { query: runNames, variables: { entity, name, filters: finished } }),
  ])
  const [first] = roots
  const second = roots.find(({ id, op_name }) => id !== first?.id && op_name === first?.op_name)
  const [job] = jobs.data
  const model = job?.model ?? models.data[0]?.name
  const ofClass = (wanted: string) => objs.find(({ base_object_class }) => base_object_class === wanted)
  const [queue] = queues
  const [newer, older] = tried
  const talk = talks.groups[0]?.group_keys.conversation_id
  // One that has the name of a model leads to the page of that model.
  const isOfModel = new Set(models.data.map((one) => one.name))
  const run = runs.data.project.runs.edges.find(({ node }) => !isOfModel.has(node.name))?.node.name
  const withMedia = roots.find(({ inputs, output }) => JSON.stringify([inputs, output]).includes('"CustomWeaveType"'))
  const settings = ["keys", "members", "usage", "quotas", "people", "project", "storage", "scoring", "outside", "audit"]
  return {
    overview: at(""),
    traces: at("/traces"),
    // Of an evaluation, where there is one: many calls alike, of which one is in hand.
    trace:
      older === undefined
        ? where(first, ({ trace_id }) => `/traces/${trace_id}`)
        : at(`/traces/${older.trace_id}`, (page) =>
            page.getByText("Evaluation.predict_and_score", { exact: true }).last().click(),
          ),
    // What a call took and gave as pictures, sounds and files.
    media: where(withMedia, ({ trace_id }) => `/traces/${trace_id}`),
    conversations: at("/traces?lens=conversations"),
    conversation: where(
      talk,
      (one) => `/conversations/${encodeURIComponent(one)}`,
      (page) =>
        page
          .locator("summary", { hasText: /\d\.\d+\s?s/ })
          .first()
          .click(),
    ),
    agents: at("/traces?lens=agents"),
    "calls-compared": where(second, ({ id }) => `/traces/compare?calls=${id},${first?.id}`),
    models: at("/models"),
    model: where(model, (one) => `/models/${one}`),
    curve: where(model, (one) => `/models/${one}?metric=loss&smooth=0.5`),
    runs: at("/runs"),
    run: where(run, (one) => `/runs/${one}`),
    "base-models": at("/base-models"),
    jobs: at("/jobs"),
    job: where(job, ({ id }) => `/jobs/${id}`),
    trajectories: where(job, ({ id }) => `/jobs/${id}?view=trajectories`),
    train: where(
      model,
      (one) => `/train?q=op is answer_chat&model=${one}`,
      (page) => page.getByRole("button", { name: /^Start on/ }).waitFor(),
    ),
    evaluations: at("/evaluations"),
    evaluation: where(ofClass("Evaluation"), ({ object_id }) => `/evaluations/${object_id}`),
    "compared-evaluations": where(older, ({ id }) => `/compare?runs=${id},${newer?.id}`),
    objects: at("/objects"),
    dataset: where(ofClass("Dataset"), ({ object_id, digest }) => `/objects/${object_id}/versions/${digest}`),
    queues: at("/queues"),
    "new-queue": at("/queues/new?q=op is answer_chat"),
    queue: where(queue, ({ id }) => `/queues/${id}`),
    label: where(
      queue,
      ({ id }) => `/queues/${id}/label`,
      (page) => page.getByRole("button", { name: /^Skip/ }).waitFor(),
    ),
    playground: where(model, (one) => `/playground?m=${one}@latest,heddle/tiny&max_tokens=8&user=3%2B1%3D`, answered),
    ...Object.fromEntries(settings.map((section) => [`settings-${section}`, at(`/settings/${section}`)])),
    costs: at("/settings/usage?since=24h", async (page) => {
      const table = page.getByRole("table", { name: /^Costs by/ })
      await table.waitFor()
      await table.getByRole("row").last().scrollIntoViewIfNeeded()
    }),
  }
}

/** Asks the models of the playground, and waits until both have answered. */
async function answered(page: Page): Promise<void> {
  await page.getByLabel("Message 1, user").click()
  await page.keyboard.press("Control+Enter")
  await page.getByRole("button", { name: "Good", exact: true }).nth(1).waitFor({ timeout: 120_000 })
}

/** The picture in WebP, which only the browser can write here. */
async function asWebp(page: Page, png: Buffer): Promise<Buffer> {
  const dataUrl = await page.evaluate(
    async (source) => {
      const image = new Image()
      image.src = source
      await image.decode()
      const canvas = document.createElement("canvas")
      ;[canvas.width, canvas.height] = [image.width, image.height]
      canvas.getContext("2d")?.drawImage(image, 0, 0)
      return canvas.toDataURL("image/webp", 0.9)
    },
    `data:image/png;base64,${png.toString("base64")}`,
  )
  return Buffer.from(dataUrl.slice(dataUrl.indexOf(",") + 1), "base64")
}

process.env["HEDDLE_TEST_BROWSER"] ??= execFileSync("sh", ["-c", "command -v chromium || command -v google-chrome"])
  .toString()
  .trim()
mkdirSync(out, { recursive: true })
const browser = await launchBrowser()
try {
  const wanted = given.only?.split(",")
  const viewport = { width: Number(given.width), height: wide.height }
  const writer = await browser.newPage()
  for (const colorScheme of ["light", "dark"] as const) {
    if (given.theme !== undefined && given.theme !== colorScheme) continue
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" })
    await context.request.post(`${url}/v1/session`, {
      data: { api_key: key },
      headers: { origin: url, "x-heddle-csrf": "1" },
    })
    const page = await context.newPage()
    for (const [name, { address, act }] of Object.entries(await screens())) {
      if (wanted !== undefined && !wanted.includes(name)) continue
      if (address === null) {
        console.log(`${name}: ${project} has nothing to show there`)
        continue
      }
      await page.goto(`${url}/${project}${address}`)
      await page.getByRole("heading").first().waitFor()
      await act?.(page)
      // Live pages keep sending requests, so their network may never be idle: after ten seconds the picture is taken
      // anyway.
      await page.waitForLoadState("networkidle", { timeout: 10_000 }).catch(() => undefined)
      await page.waitForTimeout(500)
      const file = path.join(out, `${name}-${colorScheme}.${given.format}`)
      const png = await page.screenshot()
      writeFileSync(file, given.format === "webp" ? await asWebp(writer, png) : png)
      console.log(file)
    }
    await context.close()
  }
} finally {
  await browser.close()
}
