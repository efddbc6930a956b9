import type { RouteContext } from "../route.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import { query } from "../../wire/queries/query.ts"

/** The request with the literals of its queries, wherever they stand, as they were spelled: whole numbers past 2^53 are compared exactly. */
export function exactRequest<Body>({
  body,
  request,
  exactBody,
}: Pick<RouteContext, "exactBody" | "request"> & { body: Body }): Body {
  return request.exactBody === null ? body : (withExactQueries(body, exactBody()) as Body)
}

/** `exact`: the same value, its numbers as they were spelled. */
function withExactQueries(value: unknown, exact: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(exact)) return value.map((one, at) => withExactQueries(one, exact[at]))
  if (!isJsonObject(value) || !isJsonObject(exact)) return value
  if (Object.hasOwn(value, "$expr")) return query.safeParse(exact).data ?? value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withExactQueries(one, exact[name])]))
}
