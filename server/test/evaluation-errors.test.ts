/** The shapes of errors of the evaluation store. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "./support/evaluation-app.ts"

let world: EvaluationApp
let project: string
beforeAll(async () => {
  world = await openEvaluationApp()
  project = world.acme.newProject()
  await world.acme.post("/table/create", { table: { project_id: project, rows: [{}] } })
})
afterAll(() => world.close())

const reason = (error_type: string) => ({ reason: expect.any(String), error_type })

test.each([
  ["a body that is not JSON", "/call/read", "{", 400, reason("InvalidRequest")],
  ["a value that cannot be", "/table/query", { digest: "d", limit: -1 }, 400, reason("InvalidRequest")],
  ["another team's project", "/call/read", { id: "x", project_id: "rival/p" }, 403, { detail: "Project not found" }],
  ["what is not there", "/table/query_stats", { digest: "d" }, 404, reason("NotFoundError")],
  [
    "another digest than expected",
    "/table/create_from_digests",
    { row_digests: [], expected_digest: "d" },
    409,
    reason("DigestMismatchError"),
  ],
  ["nesting", "/call/read", `{"a":${"[".repeat(2000)}${"]".repeat(2000)}}`, 413, reason("RequestTooLarge")],
  [
    "a missing field",
    "/call/read",
    {},
    422,
    { detail: [{ loc: ["body", "id"], msg: "Field required", type: "missing" }] },
  ],
  ["a column that is none", "/calls/query", { columns: ["x"] }, 422, reason("InvalidFieldError")],
] as const)("objects 14: %s", async (_, url, body, status, expected) => {
  const sent = typeof body === "string" ? body : { project_id: project, ...body }
  const answer = await world.acme.post(url, sent)
  expect([answer.status, answer.body]).toEqual([status, expected])
})

test("objects 14: no key is 401 with a detail", async () => {
  const answer = await world.app.server.inject({ method: "POST", url: "/call/read", payload: {} })
  expect([answer.statusCode, answer.json()]).toEqual([401, { detail: expect.stringContaining("no API key") }])
})
