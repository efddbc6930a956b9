import type { RouteContext } from "../../http/route.ts"
import { parse } from "../../http/validation.ts"
import { type Query, query } from "../../wire/queries/query.ts"

/** The request with the literals of its query as they were spelled: whole numbers past 2^53 are compared exactly. */
export function exactRequest<Body extends { query?: Query | null | undefined }>(
  context: Pick<RouteContext, "exactBody" | "request"> & { body: Body },
): Body {
  const { body, request } = context
  if (body.query === null || body.query === undefined || request.exactBody === null) return body
  const exact = context.exactBody() as { query: unknown }
  return { ...body, query: parse(query, exact.query, "body") }
}
