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
} from "../../wire/calls/call-write.ts"
import { deleteCalls, updateCall } from "./call-changes.ts"
import { writeCalls } from "./call-write.ts"
import type { CallDependencies } from "../dependencies.ts"

const shared = { method: "POST", dialect: "reason", tag: "Calls" } as const
const raw = { ...shared, rawBody: true, hidesKey: true } as const
const v2 = "/v2/:entity/:project"
const json = "application/json; charset=utf-8"

/** First element of a JSON list. */
function firstOf(list: Buffer): unknown {
  return (JSON.parse(list.toString()) as unknown[])[0]
}

export function callWriteRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      ...raw,
      path: "/call/start",
      access: { right: "write", of: "project body.start.project_id", ingest: true },
      summary: "Start a call",
      schemas: {},
      bodyDocument: callStartBody,
      response: callStarted,
      handle: async ({ body, principal }) =>
        firstOf(await writeCalls(dependencies, principal, { bytes: body, envelope: "start" })),
    }),
    route({
      ...raw,
      path: "/call/end",
      access: { right: "write", of: "project body.end.project_id", ingest: true },
      summary: "End a call; its start may come later",
      schemas: {},
      bodyDocument: callEndBody,
      response: emptyAnswer,
      handle: async ({ body, principal }) => {
        await writeCalls(dependencies, principal, { bytes: body, envelope: "end" })
        return {}
      },
    }),
    route({
      ...raw,
      path: "/call/upsert_batch",
      access: { right: "write", of: "project body.batch[].req.start.project_id", ingest: true },
      summary: "Start and end many calls",
      schemas: {},
      bodyDocument: callUpsertBody,
      response: callsUpserted,
      handle: async ({ body, principal, reply }) => {
        const ids = await writeCalls(dependencies, principal, { bytes: body, envelope: "upsert" })
        reply.type(json).send(Buffer.concat([Buffer.from('{"res":'), ids, Buffer.from("}")]))
      },
    }),
    route({
      ...raw,
      path: `${v2}/calls/complete`,
      access: { right: "write", of: "project path.entity/project", ingest: true },
      summary: "Store many calls that have ended",
      schemas: { params: projectParams },
      bodyDocument: callsCompleteBody,
      response: emptyAnswer,
      handle: async ({ body, params, principal }) => {
        const pathProject = `${params.entity}/${params.project}`
        await writeCalls(dependencies, principal, { bytes: body, envelope: "complete", pathProject })
        return {}
      },
    }),
    route({
      ...raw,
      path: `${v2}/call/start`,
      access: { right: "write", of: "project path.entity/project", ingest: true },
      summary: "Start a call of the project in the path",
      schemas: { params: projectParams },
      bodyDocument: callStartBody,
      response: callStarted,
      handle: async ({ body, params, principal }) => {
        const pathProject = `${params.entity}/${params.project}`
        return firstOf(await writeCalls(dependencies, principal, { bytes: body, envelope: "start", pathProject }))
      },
    }),
    route({
      ...raw,
      path: `${v2}/call/end`,
      access: { right: "write", of: "project path.entity/project", ingest: true },
      summary: "End a call of the project in the path",
      schemas: { params: projectParams },
      bodyDocument: callEndBody,
      response: emptyAnswer,
      handle: async ({ body, params, principal }) => {
        const pathProject = `${params.entity}/${params.project}`
        await writeCalls(dependencies, principal, { bytes: body, envelope: "end", pathProject })
        return {}
      },
    }),
    route({
      ...shared,
      path: "/call/update",
      access: { right: "write", of: "project body.project_id", ingest: true },
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
      access: { right: "write", of: "project body.project_id" },
      summary: "Delete calls with all that they called",
      schemas: { body: callsDeleteBody },
      response: callsDeleted,
      handle: async ({ body, principal }) => ({ num_deleted: await deleteCalls(dependencies, principal, body) }),
    }),
  ]
}
