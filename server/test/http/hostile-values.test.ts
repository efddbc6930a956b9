/**
 * Bad input is never answered with a 5xx (law 4), whatever the value and its place. Each case is a valid request of a
 * route in which one value is replaced by one of `support/hostile/hostile-values.ts`.
 *
 * `HEDDLE_FUZZ_CASES` sets how many of the cases are drawn, all of them at most. `HEDDLE_FUZZ_SEED` draws the cases of
 * an earlier run again; a failure prints it.
 */
import { randomInt } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import type { Route } from "../../src/http/route.ts"
import { defaultLimits } from "../../src/limits.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import {
  type HostileCase,
  hostileCases,
  hostileRequest,
  sentRequest,
  type SentRequest,
} from "../support/hostile/hostile-requests.ts"
import { type RouteCase, type RouteRequest, routeRequests } from "../support/isolation/route-requests.ts"
import { fillTeam, type TeamWorld } from "../support/isolation/team-world.ts"
import { seededRandom } from "../support/seeded-random.ts"

const wanted = Number(process.env["HEDDLE_FUZZ_CASES"] ?? 1_200)
const seed = Number(process.env["HEDDLE_FUZZ_SEED"] ?? randomInt(2 ** 31))
const atOnce = 4
/** A request that takes longer counts as unanswered; the largest list takes far less, even on a busy machine. */
const longestMs = 180_000

/** Limits so high that no case is refused because earlier ones have used a limit up. */
const limits = {
  ...defaultLimits,
  team_models: 1_000_000,
  team_projects: 1_000_000,
  team_open_jobs: 1_000_000,
  team_api_keys: 1_000_000,
  key_requests_per_minute: 1_000_000,
  sign_in_failures_per_minute: 1_000_000,
}

let opened: EvaluationApp
let world: TeamWorld
beforeAll(async () => {
  opened = await openEvaluationApp({ limits }, new FakeEngine())
  world = await fillTeam(opened, opened.acme)
  for (const username of ["member", "leaver"]) await opened.admin.post("/v1/organization/users", { username })
  await opened.admin.post("/v1/organization/teams", { name: "team" })
  await opened.admin.post("/v1/organization/teams/team/members", { username: "leaver" })
}, 300_000)
afterAll(() => opened.close())

/** Valid requests of an administrator, for routes where `routeRequests` has requests that are refused. */
const adminRequests: Readonly<Record<string, RouteRequest>> = {
  "POST /v1/organization/users": { body: { username: "new-user", teams: ["team"] } },
  "POST /v1/organization/users/:username": { params: { username: "member" }, body: { disabled: true } },
  "DELETE /v1/organization/users/:username": { params: { username: "member" } },
  "POST /v1/organization/teams": { body: { name: "new-team" } },
  "POST /v1/organization/teams/:team/members": { params: { team: "team" }, body: { username: "member" } },
  "DELETE /v1/organization/teams/:team/members/:username": { params: { team: "team", username: "leaver" } },
  "GET /v1/organization/audit_logs": { query: { "teams[]": "team", limit: "2" } },
  "POST /v1/organization/teams/:team/quotas": { params: { team: "team" }, body: { models: 1 } },
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const caseOf = (route: Route): RouteCase => routeRequests[nameOf(route)] ?? expect.unreachable(nameOf(route))

function validRequest(route: Route): RouteRequest {
  if (route.access !== "admin") return caseOf(route).make(world.handles)
  return adminRequests[nameOf(route)] ?? {}
}

/**
 * Reads and writes in a random order, so that written values are read; then deletions, of inner things first. Deletions wait
 * for the others to end: an answer of what is deleted meanwhile may break off.
 */
function drawnCases(): { all: number; others: HostileCase[]; deletes: HostileCase[] } {
  const random = seededRandom(seed)
  const all = opened.app.routes.flatMap((route) => hostileCases(route, validRequest(route)))
  const drawn = all
    .map((one) => ({ one, order: random() }))
    .toSorted((one, two) => one.order - two.order)
    .slice(0, wanted)
    .map(({ one }) => one)
  const [deletes = [], others = []] = [true, false].map((isDelete) =>
    drawn.filter(({ route }) => ["delete", "erase"].includes(caseOf(route).kind) === isDelete),
  )
  return {
    all: all.length,
    others,
    deletes: deletes.toSorted((one, two) => two.route.path.length - one.route.path.length),
  }
}

/** Sends the request; the status is 0 when the server gave no answer. */
async function answerTo(
  route: Route,
  { url, headers, payload }: SentRequest,
): Promise<{ status: number; text: string }> {
  const key = route.access === "admin" ? opened.admin.key : opened.acme.key
  const answer = opened.app.server.inject({
    method: route.method,
    url,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(payload === undefined ? {} : { payload }),
  })
  const stop = new AbortController()
  const none = sleep(longestMs, { status: 0, text: `no answer within ${longestMs / 1000} s` }, { signal: stop.signal })
  none.catch(() => undefined)
  const first = await Promise.race([
    answer.then(
      ({ statusCode, payload: text }) => ({ status: statusCode, text }),
      (error: unknown) => ({ status: 0, text: String(error) }),
    ),
    none,
  ])
  stop.abort()
  return first
}

/** The fault of the answer in words; null when it has none. */
async function failureOf(one: HostileCase): Promise<string | null> {
  const own = validRequest(one.route)
  const { status, text } = await answerTo(one.route, await hostileRequest(one, own))
  if (status > 0 && (status < 500 || status === own.status)) return null
  const { route, part, place, value } = one
  return `${nameOf(route)}, ${part} ${place.join(".") || "as a whole"}, ${value.name}: ${status} ${text.slice(0, 300)}`
}

test("law 4: no value at any place of a request is answered with a 5xx", { timeout: 4 * 3_600_000 }, async () => {
  const { all, others, deletes } = drawnCases()
  const drawn = others.length + deletes.length
  expect(all).toBeGreaterThan(40_000)
  expect(drawn).toBe(Math.min(wanted, all))
  const failures: string[] = []
  for (const cases of [others, deletes]) {
    const waiting = cases.values()
    const worker = async () => {
      for (const one of waiting) {
        const failure = await failureOf(one)
        if (failure !== null) failures.push(failure)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }
  const summary = `HEDDLE_FUZZ_SEED=${seed}, ${drawn} of ${all} cases, ${failures.length} failed`
  expect(failures.slice(0, 50), summary).toEqual([])
  expect(Object.keys(Object.prototype)).toEqual([])
})

test("the server still answers, whatever is stored by now", { timeout: 600_000 }, async () => {
  world = await fillTeam(opened, opened.acme)
  const refused: string[] = []
  for (const route of opened.app.routes.filter((one) => caseOf(one).kind === "read" && one.access !== "admin")) {
    const own = validRequest(route)
    const { status, text } = await answerTo(route, await sentRequest(route, own))
    if (status !== (own.status ?? 200)) refused.push(`${nameOf(route)}: ${status} ${text.slice(0, 300)}`)
  }
  expect(refused).toEqual([])
})
