/**
 * Makes requests of a route that are valid but for one hostile value, at each place of the path, query, headers and
 * body.
 */
import type { Route } from "../../../src/http/route.ts"
import type { RouteRequest } from "../isolation/route-requests.ts"
import { formOf } from "../isolation/team-world.ts"
import { jsonSchemaOf, type Place, schemaPlaces, valueAt, withValue } from "../route-places.ts"
import { type HostileValue, hostileValues } from "./hostile-values.ts"

export interface HostileCase {
  route: Route
  part: "path" | "query" | "header" | "form" | "body"
  place: Place
  value: HostileValue
}

export interface SentRequest {
  url: string
  headers: Record<string, string>
  payload: string | Buffer | undefined
}

/** Headers that the server reads, from every request or from those of one area. */
const headerNames = [
  "accept",
  "accept-encoding",
  "authorization",
  "content-encoding",
  "content-type",
  "if-none-match",
  "openai-project",
  "project_id",
  "wandb-api-key",
  "x-request-id",
]

/** Matches texts that Node's parser accepts in a header. */
const headerText = /^[\t\x20-\x7e]{0,16000}$/

/** All cases for the route, of which `own` is a valid request. */
export function hostileCases(route: Route, own: RouteRequest): HostileCase[] {
  const texts = hostileValues.filter(({ text }) => text !== null)
  const inHeader = texts.filter(({ text }) => headerText.test(text ?? "\0"))
  const cases = (part: HostileCase["part"], names: string[], values: readonly HostileValue[]) =>
    names.flatMap((name) => values.map((value): HostileCase => ({ route, part, place: [name], value })))
  const queryNames = new Set([
    ...Object.keys(own.query ?? {}),
    ...schemaPlaces(jsonSchemaOf(route.schemas.query)).flatMap(({ place }) => place.slice(0, 1).map(String)),
  ])
  return [
    ...cases("path", [...pathNames(route)], texts),
    ...cases("query", [...queryNames], texts),
    ...cases("header", headerNames, inHeader),
    ...cases("form", Object.keys(own.form ?? {}), texts),
    ...(own.form === undefined && route.method !== "GET" && !isArchive(route) ? bodyCases(route, own) : []),
  ]
}

/** True for a body that is no JSON, and so has no places for values. */
const isArchive = ({ bodyType }: Route) => bodyType === "application/x-tar"

const pathNames = ({ path }: Route) => new Set(path.match(/(?<=:)\w+|\*/g))

function bodyCases(route: Route, own: RouteRequest): HostileCase[] {
  const body = bodyOf(own)
  const places = [
    ...schemaPlaces(jsonSchemaOf(route.schemas.body ?? route.bodyDocument)),
    ...placesWithin(body).map((place) => ({ place, kind: kindOf(valueAt(body, place)) })),
  ]
  const kindsAt = new Map<string, Set<string>>([["[]", new Set()]])
  for (const { place, kind } of places) {
    const key = JSON.stringify(place)
    kindsAt.set(key, (kindsAt.get(key) ?? new Set()).add(kind))
  }
  return [...kindsAt].flatMap(([key, kinds]) =>
    hostileValues
      .filter(({ only }) => only === undefined || kinds.has("any") || kinds.has(only))
      .map((value): HostileCase => ({ route, part: "body", place: JSON.parse(key) as Place, value })),
  )
}

function kindOf(value: unknown): "list" | "object" | "other" {
  if (Array.isArray(value)) return "list"
  return typeof value === "object" && value !== null ? "object" : "other"
}

/** The request's body as a value; it is sent as JSON or as one line of JSON. */
const bodyOf = ({ body, text }: RouteRequest): unknown => (text === undefined ? body : JSON.parse(text))

/** All places in a value, with the first item only of each list. */
function placesWithin(value: unknown, place: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [place]
  const inner = Array.isArray(value) ? value.slice(0, 1).entries() : Object.entries(value)
  return [place, ...[...inner].flatMap(([key, one]) => placesWithin(one, [...place, key]))]
}

const marker = "the place of the hostile value"

/** The request of a case, made from `own`, a valid request that was not sent before. */
export async function hostileRequest(
  { route, part, place, value }: HostileCase,
  own: RouteRequest,
): Promise<SentRequest> {
  if (part === "body") {
    const body = bodyOf(own)
    const json = value.json(valueAt(body, place))
    const payload = JSON.stringify(withValue(body, place, marker)).replace(JSON.stringify(marker), () => json)
    return sentRequest(route, { ...own, text: own.text === undefined ? payload : `${payload}\n` })
  }
  const field = ({ path: "params", query: "query", header: "headers", form: "form" } as const)[part]
  return sentRequest(route, { ...own, [field]: { ...own[field], [String(place[0])]: value.text ?? "" } })
}

export async function sentRequest(
  route: Route,
  { params = {}, query = {}, headers, form, text, body }: RouteRequest,
): Promise<SentRequest> {
  const path = route.path
    .replaceAll(/:(\w+)/g, (_, name: string) => percentEncoded(params[name] ?? "missing"))
    .replace("*", () => percentEncoded(params["*"] ?? "missing").replaceAll("%2F", "/"))
  const search = Object.entries(query).map((pair) => pair.map(percentEncoded).join("="))
  const url = search.length === 0 ? path : `${path}?${search.join("&")}`
  const content =
    form === undefined
      ? { type: "application/json", payload: text ?? (body === undefined ? undefined : JSON.stringify(body)) }
      : await formOf(form)
  return { url, headers: { "content-type": content.type, ...headers }, payload: content.payload }
}

/** Percent-encodes the text; half of a surrogate pair becomes the bytes that UTF-8 would have for it. */
function percentEncoded(text: string): string {
  return Array.from(text, (character) => (character.isWellFormed() ? encodeURIComponent(character) : "%ED%A0%80")).join(
    "",
  )
}
