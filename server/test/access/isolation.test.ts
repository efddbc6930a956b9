/**
 * Security 5.3: another team neither sees nor changes a team's things, and cannot tell them from missing ones. A member
 * of the team blue sends every route of the server requests that name things of the team red, in every way there is:
 *
 * - valid requests of blue with each name, id, digest, ref or alias replaced by red's, one by one and all at once;
 * - the same requests with red's project in the headers that name one;
 * - every text in the route's schema, also those that no client sends, set to names of red's.
 *
 * Each request has a twin that names a missing thing: no difference between their answers may show that red's thing
 * exists. `HEDDLE_ISOLATION_CASES` sets how many values each text of a schema gets.
 */
import { createHash, randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import type { Route } from "../../src/http/route.ts"
import { defaultLimits } from "../../src/limits.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { type RouteRequest, routeRequests } from "../support/isolation/route-requests.ts"
import { type Sent, sendRequest } from "../support/isolation/send-request.ts"
import { allBlobs, stateOf } from "../support/isolation/team-state.ts"
import { fillTeam, type HandleName, type Handles, type TeamWorld } from "../support/isolation/team-world.ts"
import { jsonSchemaOf, type Place, schemaPlaces, withValue } from "../support/route-places.ts"

const valuesOfText = Number(process.env["HEDDLE_ISOLATION_CASES"] ?? 1)

let opened: EvaluationApp
let red: TeamWorld
let redBlobs: string[]
let blue: TeamWorld
/** Names and ids of red's, each with one of the same form that names nothing. */
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

/** Names, ids and digests that are not composed of others, each with one of the same form that names nothing. */
function nowhereOf(handles: Handles): [string, string][] {
  const composed = /[/:]/
  const atoms = [...new Set(Object.values(handles).filter((value) => !composed.test(value)))]
  const other = (value: string) =>
    /^[0-9a-f-]{36}$/.test(value) ? randomUUID() : value.replaceAll(/[0-9A-Za-z]{8,}/g, (run) => scrambled(run))
  return atoms
    .map((value): [string, string] => [value, value === handles.entity ? "none" : other(value)])
    .toSorted(([one], [two]) => two.length - one.length)
}

/** A text of the same length, alphabet and first character, since some names may not begin with a digit. */
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

/** Status and words of an answer, without numbers and without quotations, which may be cut. */
function comparable({ status, text }: Sent): string {
  const words = asNowhere(text)
    .replaceAll(/\\"(?:[^"\\]|\\(?!"))*\\"/g, "…")
    .replaceAll(/not JSON: [^"]*/g, "not JSON")
  return `${status} ${words.replaceAll(/\d+/g, "0")}`
}

/** Names of red's that were written into blue so far. */
let written = ""
/** Names of red's that blue has asked for so far. */
let askedFor = ""

/** Names and secrets of red's in an answer that no request contained. */
function leaks({ text, asked }: Sent, repeatsRequests: boolean): string[] {
  const { rowDigest, tableDigest } = red.handles
  // A request with a row's digest may get the table's, which is computed from it.
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

/** Sends a request that names things of red's; returns the fault of its answer, or null. */
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
  // Only refusals are compared in full: a value that is computed from a name, such as a digest, differs with the name.
  const same = answer.status >= 400 ? real === ghost : answer.status === twin.status
  return same ? null : finding("can be told from what is nowhere", `${real.slice(0, 250)} | ${ghost.slice(0, 250)}`)
}

/** The handles that `make` reads. */
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

/** Routes that read come first, before any name of red's was written into blue; routes that delete come last. */
function inOrder(): Route[] {
  const kindOf = (route: Route) =>
    ["read", "write", "delete", "erase"].indexOf(routeRequests[nameOf(route)]?.kind ?? "read")
  return opened.app.routes.toSorted((one, two) => kindOf(one) - kindOf(two) || innermostFirst(one, two))
}

/** Places for texts, and places for any value, which may be a ref. */
const textPlaces = (schema: unknown): Place[] =>
  schemaPlaces(schema).flatMap(({ place, kind }) => (kind === "text" || kind === "any" ? [place] : []))

/**
 * Counts values of red's, which are taken in turn, so that each kind is tried at places all over the server. It begins with
 * the route's name: a route that is added changes nothing about what the others are asked.
 */
let turn = 0
const firstTurn = (route: Route) => createHash("sha256").update(nameOf(route)).digest().readUInt16BE()
function nextValues(): string[] {
  const values = Object.values(red.handles)
  return Array.from({ length: valuesOfText }, () => values[turn++ % values.length] ?? "")
}

function* schemaRequests(route: Route, own: RouteRequest): Generator<RouteRequest> {
  turn = firstTurn(route)
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

/** Order of routes that delete: inner things go before the things that contain them. */
function innermostFirst(one: Route, two: Route): number {
  return routeRequests[nameOf(one)]?.kind === "delete" ? two.path.length - one.path.length : 0
}

test("every route has a request here, and every request has its route", () => {
  const names = opened.app.routes.map(nameOf)
  expect(names.filter((name) => routeRequests[name] === undefined)).toEqual([])
  expect(Object.keys(routeRequests).filter((name) => !names.includes(name))).toEqual([])
})

test(
  "security 5.3: no route shows a caller another team's things, tells them from missing ones, or changes them",
  { timeout: 600_000 },
  async () => {
    const before = await stateOf(opened, red.handles, redBlobs)
    expect(Object.values(before).filter((rows) => rows !== "").length).toBeGreaterThan(15)
    const findings: Finding[] = []
    let requests = 0
    for (const route of inOrder()) {
      const { kind, make } = routeRequests[nameOf(route)] ?? expect.unreachable()
      const own = make(blue.handles)
      // Deletions are not sent with only a header changed: they would delete things that blue's next requests name.
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
