/**
 * Security 5.3: nothing of one team is shown to, told apart by, or changed by another. Every route of the server is asked
 * by a member of the team blue in every way that a request can name something of the team red:
 *
 * - what a member of blue may ask, with each name, id, digest, ref or alias in it replaced by red's, one by one and all at once;
 * - the same with red's project in the headers that name one;
 * - every text that the route's schema has, those that no client sends included, set to names of red's.
 *
 * Each request has a twin that names what is nowhere: no difference between the answers may tell that red's thing is there.
 * `HEDDLE_ISOLATION_CASES` sets how many values each text of a schema gets.
 */
import { createHash, randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { FakeEngine } from "../src/engines/fake-engine.ts"
import type { Route } from "../src/http/route.ts"
import { defaultLimits } from "../src/limits.ts"
import { type EvaluationApp, openEvaluationApp } from "./support/evaluation-app.ts"
import { type RouteRequest, routeRequests } from "./support/isolation/route-requests.ts"
import { type Sent, sendRequest } from "./support/isolation/send-request.ts"
import { allBlobs, stateOf } from "./support/isolation/team-state.ts"
import { fillTeam, type HandleName, type Handles, type TeamWorld } from "./support/isolation/team-world.ts"
import { jsonSchemaOf, type Place, schemaPlaces, withValue } from "./support/route-places.ts"

const valuesOfText = Number(process.env["HEDDLE_ISOLATION_CASES"] ?? 1)

let opened: EvaluationApp
let red: TeamWorld
let redBlobs: string[]
let blue: TeamWorld
/** Names and ids of red's, each with one of the same form that is nowhere. */
let substitutes: [string, string][]

beforeAll(async () => {
  opened = await openEvaluationApp(
    { limits: { ...defaultLimits, sign_in_failures_per_minute: 10_000 } },
    new FakeEngine(),
  )
  red = await fillTeam(opened, opened.acme)
  redBlobs = await allBlobs(opened)
  blue = await fillTeam(opened, opened.rival)
  substitutes = nowhereOf(red.handles)
}, 300_000)
afterAll(() => opened.close())

/** Names, ids and digests that no other handle is made of, each with one of the same form that is nowhere. */
function nowhereOf(handles: Handles): [string, string][] {
  const composed = /[/:]/
  const atoms = [...new Set(Object.values(handles).filter((value) => !composed.test(value)))]
  const other = (value: string) =>
    /^[0-9a-f-]{36}$/.test(value) ? randomUUID() : value.replaceAll(/[0-9A-Za-z]{8,}/g, (run) => scrambled(run))
  return atoms
    .map((value): [string, string] => [value, value === handles.entity ? "none" : other(value)])
    .toSorted(([one], [two]) => two.length - one.length)
}

/** Of the same length and alphabet, and with the same first character: some names may not begin with a digit. */
function scrambled(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex").repeat(2)
  const rest = hash.slice(1, text.length)
  return text.charAt(0) + (/^[0-9a-f]+$/.test(text) ? rest : rest.toUpperCase())
}

function asNowhere(text: string): string {
  return substitutes.reduce((changed, [own, other]) => changed.replaceAll(own, other), text)
}

const send = (key: string, route: Route, request: RouteRequest) => sendRequest(opened, key, route, request)

const nameOf = (route: Route) => `${route.method} ${route.path}`

/** The status and the words of an answer, without quotations, which may be cut, and without numbers. */
function comparable({ status, text }: Sent): string {
  const words = asNowhere(text)
    .replaceAll(/\\"(?:[^"\\]|\\(?!"))*\\"/g, "…")
    .replaceAll(/not JSON: [^"]*/g, "not JSON")
  return `${status} ${words.replaceAll(/\d+/g, "0")}`
}

/** What of red's was written into blue by now. */
let written = ""
/** What of red's blue asked for by now. */
let askedFor = ""

/** What red has, and no request said. */
function leaks({ text, asked }: Sent, repeatsRequests: boolean): string[] {
  const { rowDigest, tableDigest } = red.handles
  // The digest of a table is made of those of its rows.
  const known = `${repeatsRequests ? askedFor : written} ${asked} ${asked.includes(rowDigest) ? tableDigest : ""}`
  return [...Object.values(red.handles), ...red.secrets].filter(
    (value) => text.includes(value) && !known.includes(value),
  )
}

interface Finding {
  route: string
  what: string
  asked: string
  answer: string
}

/** What is wrong with the answer to `request`, which names things of red's; null: nothing. */
async function tryOut(route: Route, request: RouteRequest): Promise<Finding | null> {
  const answer = await send(blue.caller.key, route, request)
  const finding = (what: string, text = answer.text): Finding => ({
    route: nameOf(route),
    what,
    asked: answer.asked,
    answer: `${answer.status} ${text.slice(0, 500)}`,
  })
  const { kind, repeatsRequests = false } = routeRequests[nameOf(route)] ?? expect.unreachable()
  const leaked = leaks(answer, repeatsRequests)
  askedFor += answer.asked
  if (kind !== "read") written += answer.asked
  if (leaked.length > 0) return finding(`shows ${leaked.join(", ")}`)
  if (answer.status >= 500 && answer.status !== request.status) return finding("a failure of the server")
  const twin = await send(blue.caller.key, route, JSON.parse(asNowhere(JSON.stringify(request))) as RouteRequest)
  const [real, ghost] = [comparable(answer), comparable(twin)]
  // What is made of a name, such as a digest of a value, differs with the name: only the refusals are compared in full.
  const same = answer.status >= 400 ? real === ghost : answer.status === twin.status
  return same ? null : finding("can be told from what is nowhere", `${real.slice(0, 250)} | ${ghost.slice(0, 250)}`)
}

/** The handles that a request is made of. */
function usedBy(make: (handles: Handles) => RouteRequest): HandleName[] {
  const used = new Set<HandleName>()
  make(
    new Proxy(blue.handles, {
      get: (handles, name: HandleName) => {
        used.add(name)
        return handles[name]
      },
    }),
  )
  return [...used]
}

const projectHeaders = ["openai-project", "project_id", "wandb-project", "x-project-id"]

function* foreignRequests(make: (handles: Handles) => RouteRequest): Generator<RouteRequest> {
  const used = usedBy(make)
  for (const name of used) yield make({ ...blue.handles, [name]: red.handles[name] })
  if (used.length > 1) yield make(red.handles)
  if (used.includes("entity")) yield make({ ...blue.handles, entity: red.handles.entity, project: red.handles.project })
}

function headerRequests(own: RouteRequest): RouteRequest[] {
  return projectHeaders.map((header) => ({ ...own, headers: { ...own.headers, [header]: red.handles.projectId } }))
}

/** What reads comes first, before anything of red's was written into blue; what deletes comes last. */
function inOrder(): Route[] {
  const kindOf = (route: Route) =>
    ["read", "write", "delete", "erase"].indexOf(routeRequests[nameOf(route)]?.kind ?? "read")
  return opened.app.routes.toSorted((one, two) => kindOf(one) - kindOf(two) || innermostFirst(one, two))
}

/** What may be anything may be a ref. */
const textPlaces = (schema: unknown): Place[] =>
  schemaPlaces(schema).flatMap(({ place, kind }) => (kind === "text" || kind === "any" ? [place] : []))

/** Values of red's in turn, so that each kind is tried in places all over the server. */
let turn = 0
function nextValues(): string[] {
  const values = Object.values(red.handles)
  return Array.from({ length: valuesOfText }, () => values[turn++ % values.length] ?? "")
}

function* schemaRequests(route: Route, own: RouteRequest): Generator<RouteRequest> {
  const { schemas, bodyDocument } = route
  if (own.form === undefined && own.text === undefined) {
    for (const place of textPlaces(jsonSchemaOf(schemas.body ?? bodyDocument))) {
      if (place.length === 0) continue
      for (const value of nextValues()) yield { ...own, body: withValue(own.body, place, value) }
    }
  }
  if (schemas.query === undefined) return
  for (const [name] of textPlaces(jsonSchemaOf(schemas.query))) {
    for (const value of nextValues()) yield { ...own, query: { ...own.query, [String(name)]: value } }
  }
}

/** Of what deletes: what is within something else goes before it. */
function innermostFirst(one: Route, two: Route): number {
  return routeRequests[nameOf(one)]?.kind === "delete" ? two.path.length - one.path.length : 0
}

test("every route has a request here, and no request is without its route", () => {
  const names = opened.app.routes.map(nameOf)
  expect(names.filter((name) => routeRequests[name] === undefined)).toEqual([])
  expect(Object.keys(routeRequests).filter((name) => !names.includes(name))).toEqual([])
})

test(
  "security 5.3: of another team nothing is shown, told apart or changed, by any route",
  { timeout: 600_000 },
  async () => {
    const before = await stateOf(opened, red.handles, redBlobs)
    expect(Object.values(before).filter((rows) => rows !== "").length).toBeGreaterThan(15)
    const findings: Finding[] = []
    let requests = 0
    for (const route of inOrder()) {
      const { kind, make } = routeRequests[nameOf(route)] ?? expect.unreachable()
      const own = make(blue.handles)
      // With only a header changed, a member of blue deletes what blue's next requests name.
      const withHeaders = kind === "delete" || kind === "erase" ? [] : headerRequests(own)
      for (const request of [...foreignRequests(make), ...withHeaders, ...schemaRequests(route, own)]) {
        requests += 1
        const finding = await tryOut(route, request)
        if (finding !== null) findings.push(finding)
      }
    }
    const after = await stateOf(opened, red.handles, redBlobs)
    const changed = Object.keys(before).filter((part) => before[part] !== after[part])
    expect({ findings: findings.slice(0, 20), changed }).toEqual({ findings: [], changed: [] })
    expect(requests).toBeGreaterThan(1_500)
  },
)

test("the requests are good ones: the team's own members are answered", { timeout: 300_000 }, async () => {
  const refused: string[] = []
  for (const route of inOrder()) {
    const request = routeRequests[nameOf(route)]?.make(red.handles) ?? expect.unreachable()
    const { status, text } = await send(red.caller.key, route, request)
    if (status !== (request.status ?? 200)) refused.push(`${nameOf(route)}: ${status} ${text.slice(0, 300)}`)
  }
  expect(refused).toEqual([])
})
