/** `docs/reference/seed.md` lists the specification's endpoints; the tests and routes that it names are there. */
import { readFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

const specified = [
  "POST /v1/preview/models",
  "DELETE /v1/preview/models/{model_id}",
  "GET /v1/preview/models/{model_id}/checkpoints",
  "DELETE /v1/preview/models/{model_id}/checkpoints",
  "POST /v1/preview/models/{model_id}/log",
  "POST /v1/preview/sft-training-jobs",
  "POST /v1/preview/training-jobs",
  "GET /v1/preview/training-jobs/{training_job_id}",
  "GET /v1/preview/training-jobs/{training_job_id}/events",
  "GET /v1/health",
  "GET /v1/system-check",
  "POST /v1/chat/completions",
  "POST /v1/chat/completions/",
  "GET /v2/{entity}/{project}/datasets",
  "POST /v2/{entity}/{project}/models",
  "POST /feedback/create",
  "POST /feedback/query",
  "POST /annotation_queues/{queue_id}/items/{item_id}/progress",
  "PUT /annotation_queues/{queue_id}",
  "PUT /objs/{object_id}/versions/{digest}/tags",
  "PUT /objs/{object_id}/aliases",
]

interface Row {
  endpoint: string
  file: string
  title: string
}

let world: EvaluationApp
let rows: Row[]
beforeAll(async () => {
  world = await openEvaluationApp()
  rows = rowsOf(await readFile(path.resolve(import.meta.dirname, "../../../docs/reference/seed.md"), "utf8"))
})
afterAll(() => world.close())

function rowsOf(page: string): Row[] {
  return [...page.matchAll(/^\| `([^`]+)` \| `([^`]+)` \| (.+) \|$/gm)].map(
    ([, endpoint = "", file = "", title = ""]) => ({ endpoint, file, title }),
  )
}

test("the page lists the endpoints of the specification, each once", () => {
  expect(rows.map(({ endpoint }) => endpoint).toSorted()).toEqual(specified.toSorted())
})

test("every test that it names is there", async () => {
  const missing = []
  for (const { endpoint, file, title } of rows) {
    const source = await readFile(path.join(import.meta.dirname, "..", file), "utf8").catch(() => "")
    if (!new RegExp(`\\btest\\(\\s*"${RegExp.escape(title)}"`).test(source)) missing.push({ endpoint, file, title })
  }
  expect(missing).toEqual([])
})

test("every endpoint is a route, and the document shows it", async () => {
  const document = (await world.acme.get("/openapi.json")).body as { paths: Record<string, object> }
  for (const { endpoint } of rows) {
    const [method = "", url = ""] = endpoint.replace(/\/$/, "").split(" ")
    const registered = world.app.routes.map((route) => `${route.method} ${route.path.replaceAll(/:(\w+)/g, "{$1}")}`)
    expect(registered).toContain(`${method} ${url}`)
    expect(Object.keys(document.paths[url] ?? {})).toContain(method.toLowerCase())
  }
})
