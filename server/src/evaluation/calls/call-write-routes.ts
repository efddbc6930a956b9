/** The routes that write calls: evaluation-store-calls 2.2. Every one is always accepted, in any order and mixed. */
import { type Route, route } from "../../http/route.ts"
import {
  callEndBody,
  callsCompleteBody,
  callsDeleteBody,
  callsDeleted,
  callStartBody,
  callStarted,
  callsUpserted,
  callUpdateBody,
  callUpsertBody,
  emptyAnswer,
  projectParams,
} from "../../wire/evaluation/call-write.ts"
import { readCompleteCalls, readSingleCall, readUpsertBatch } from "./call-body.ts"
import { deleteCalls, updateCall } from "./call-changes.ts"
import { writeCalls } from "./call-write.ts"
import type { EvaluationDependencies } from "../dependencies.ts"

const shared = { method: "POST", access: "key", dialect: "reason", tag: "Calls" } as const
const raw = { ...shared, rawBody: true } as const
const v2 = "/v2/:entity/:project"

export function callWriteRoutes(dependencies: EvaluationDependencies): Route[] {
  return [
    route({
      ...raw,
      path: "/call/start",
      summary: "Start a call",
      schemas: {},
      bodyDocument: callStartBody,
      response: callStarted,
      handle: async ({ body, principal }) =>
        (await writeCalls(dependencies, principal, readSingleCall(body, "start"), null))[0],
    }),
    route({
      ...raw,
      path: "/call/end",
      summary: "End a call; its start may come later",
      schemas: {},
      bodyDocument: callEndBody,
      response: emptyAnswer,
      handle: async ({ body, principal }) => {
        await writeCalls(dependencies, principal, readSingleCall(body, "end"), null)
        return {}
      },
    }),
    route({
      ...raw,
      path: "/call/upsert_batch",
      summary: "Start and end many calls",
      schemas: {},
      bodyDocument: callUpsertBody,
      response: callsUpserted,
      handle: async ({ body, principal }) => {
        const ids = await writeCalls(dependencies, principal, readUpsertBatch(body), null)
        return { res: ids.map((one) => one ?? {}) }
      },
    }),
    route({
      ...raw,
      path: `${v2}/calls/complete`,
      summary: "Store many calls that have ended",
      schemas: { params: projectParams },
      bodyDocument: callsCompleteBody,
      response: emptyAnswer,
      handle: async ({ body, params, principal }) => {
        await writeCalls(dependencies, principal, readCompleteCalls(body), `${params.entity}/${params.project}`)
        return {}
      },
    }),
    route({
      ...raw,
      path: `${v2}/call/start`,
      summary: "Start a call of the project in the path",
      schemas: { params: projectParams },
      bodyDocument: callStartBody,
      response: callStarted,
      handle: async ({ body, params, principal }) => {
        const project = `${params.entity}/${params.project}`
        return (await writeCalls(dependencies, principal, readSingleCall(body, "start"), project))[0]
      },
    }),
    route({
      ...raw,
      path: `${v2}/call/end`,
      summary: "End a call of the project in the path",
      schemas: { params: projectParams },
      bodyDocument: callEndBody,
      response: emptyAnswer,
      handle: async ({ body, params, principal }) => {
        await writeCalls(dependencies, principal, readSingleCall(body, "end"), `${params.entity}/${params.project}`)
        return {}
      },
    }),
    route({
      ...shared,
      path: "/call/update",
      summary: "Rename a call",
      schemas: { body: callUpdateBody },
      response: emptyAnswer,
      handle: async ({ body, principal }) => {
        await updateCall(dependencies, principal, body)
        return {}
      },
    }),
    route({
      ...shared,
      path: "/calls/delete",
      summary: "Delete calls with all that they called",
      schemas: { body: callsDeleteBody },
      response: callsDeleted,
      handle: async ({ body, principal }) => ({ num_deleted: await deleteCalls(dependencies, principal, body) }),
    }),
  ]
}
