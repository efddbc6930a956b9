/**
 * Takes pictures of a running server's screens, in both themes, with the data of one project.
 *
 * Usage: node scripts/pictures.ts --url http://127.0.0.1:8080 --key KEY --project local/demo --out docs/pictures
 *   [--only traces,trace] [--theme light]
 * Each screen that the project has something for becomes NAME-light.png and NAME-dark.png; the others are named and
 * left out.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import { launchBrowser, wide } from "../web/browser/support/browser.ts"

const { values: given } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:8080" },
    key: { type: "string", default: process.env["HEDDLE_KEY"] ?? "" },
    project: { type: "string", default: "local/demo" },
    out: { type: "string", default: "docs/pictures" },
    only: { type: "string" },
    theme: { type: "string" },
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

interface Listed {
  id: string
  name: string
}

interface Call {
  id: string
  trace_id: string
  op_name: string
}

const newest = [{ field: "started_at", direction: "desc" }]

/** The path of each screen after the project's own; null where the project has nothing to show. */
async function screens(): Promise<Record<string, string | null>> {
  const name = project.split("/")[1] ?? ""
  const ended = { $expr: { $eq: [{ $getField: "summary.weave.status" }, { $literal: "success" }] } }
  const calls = async (filter: object, limit: number) => {
    const body = { project_id: project, filter, query: ended, sort_by: newest, limit }
    return (await ask<{ calls: Call[] }>("POST", "/calls/query", body)).calls
  }
  const [roots, models, jobs, { objs }] = await Promise.all([
    calls({ trace_roots_only: true }, 20),
    ask<{ data: Listed[] }>("GET", `/v1/preview/models?project=${name}`),
    ask<{ data: Listed[] }>("GET", `/v1/training/jobs?project=${name}`).catch(() => ({ data: [] })),
    ask<{ objs: { object_id: string; digest: string; base_object_class: string | null }[] }>("POST", "/objs/query", {
      project_id: project,
      filter: { latest_only: true },
      metadata_only: true,
    }),
  ])
  const [first] = roots
  const second = roots.find(({ id, op_name }) => id !== first?.id && op_name === first?.op_name)
  const model = models.data[0]?.name
  const job = jobs.data[0]?.id
  const dataset = objs.find(({ base_object_class }) => base_object_class === "Dataset")
  return {
    overview: "",
    traces: "/traces",
    trace: first === undefined ? null : `/traces/${first.trace_id}`,
    "calls-compared":
      first === undefined || second === undefined ? null : `/traces/compare?calls=${second.id},${first.id}`,
    models: "/models",
    model: model === undefined ? null : `/models/${model}`,
    jobs: "/jobs",
    job: job === undefined ? null : `/jobs/${job}`,
    evaluations: "/evaluations",
    objects: "/objects",
    dataset: dataset === undefined ? null : `/objects/${dataset.object_id}/versions/${dataset.digest}`,
    keys: "/settings/keys",
    usage: "/settings/usage",
  }
}

process.env["HEDDLE_TEST_BROWSER"] ??= execFileSync("sh", ["-c", "command -v chromium || command -v google-chrome"])
  .toString()
  .trim()
mkdirSync(out, { recursive: true })
const browser = await launchBrowser()
try {
  const wanted = given.only?.split(",")
  for (const colorScheme of ["light", "dark"] as const) {
    if (given.theme !== undefined && given.theme !== colorScheme) continue
    const context = await browser.newContext({ viewport: wide, colorScheme, reducedMotion: "reduce" })
    await context.request.post(`${url}/v1/session`, {
      data: { api_key: key },
      headers: { origin: url, "x-heddle-csrf": "1" },
    })
    const page = await context.newPage()
    for (const [name, address] of Object.entries(await screens())) {
      if (wanted !== undefined && !wanted.includes(name)) continue
      if (address === null) {
        console.log(`${name}: ${project} has nothing to show there`)
        continue
      }
      await page.goto(`${url}/${project}${address}`)
      // Live pages keep sending requests, so their network may never be idle: after ten seconds the picture is taken
      // anyway.
      await page.waitForLoadState("networkidle", { timeout: 10_000 }).catch(() => undefined)
      await page.waitForTimeout(500)
      const file = path.join(out, `${name}-${colorScheme}.png`)
      await page.screenshot({ path: file })
      console.log(file)
    }
    await context.close()
  }
} finally {
  await browser.close()
}
