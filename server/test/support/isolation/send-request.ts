/** Sends requests that `route-requests.ts` and the document's examples describe. */
import type { Route } from "../../../src/http/route.ts"
import type { EvaluationApp } from "../evaluation-app.ts"
import type { RouteRequest } from "./route-requests.ts"
import { formOf } from "./team-world.ts"

export interface Sent {
  status: number
  /** The body; bytes that are no text are read as Latin-1. */
  text: string
  /** Decoded parts of the request that may name things. */
  asked: string
}

export async function sendRequest(
  opened: EvaluationApp,
  key: string,
  route: Route,
  request: RouteRequest,
): Promise<Sent> {
  const { params = {}, query = {}, body, text, form, headers = {} } = request
  const path = route.path
    .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? "missing"))
    .replace("*", () => params["*"] ?? "missing")
  const search = new URLSearchParams(query).toString()
  const content =
    form === undefined
      ? { type: "application/json", payload: text ?? (body === undefined ? undefined : JSON.stringify(body)) }
      : await formOf(form)
  const answer = await opened.app.server.inject({
    method: route.method,
    url: search === "" ? path : `${path}?${search}`,
    headers: { authorization: `Bearer ${key}`, "content-type": content.type, ...headers },
    ...(content.payload === undefined ? {} : { payload: content.payload }),
  })
  const project = `${params["entity"]}/${params["project"]}`
  const asked = JSON.stringify([project, params, query, headers, body, text, form])
  return { status: answer.statusCode, text: answer.rawPayload.toString("latin1"), asked }
}
