/** `/obj/…` and `/objs/query`: evaluation-store-objects 3. */
import { type Route, route } from "../http/route.ts"
import {
  objectCreateBody,
  objectCreated,
  objectDeleteBody,
  objectList,
  objectQueryBody,
  objectRead,
  objectReadBody,
  objectsDeleted,
} from "../wire/objects/object.ts"
import type { StoreDependencies } from "./dependencies.ts"
import { jsonDocument, sendStream } from "../http/answers/json-stream.ts"
import type { Principal } from "../http/principal.ts"
import { createObject, type PublishedVersion } from "./object-create.ts"
import { deleteObject, queryObjects, readObject } from "./object-read.ts"

const shared = { method: "POST", dialect: "reason", tag: "Objects" } as const
const json = "application/json; charset=utf-8"

/** Hears of a version that a client has published, before it is answered. */
export type VersionPublished = (principal: Principal, version: PublishedVersion) => Promise<void>

export function objectRoutes(dependencies: StoreDependencies, published: VersionPublished): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      path: "/obj/create",
      access: { right: "write", of: "project body.obj.project_id", ingest: true },
      summary: "Publish a version of an object",
      schemas: {},
      rawBody: true,
      hidesKey: true,
      bodyDocument: objectCreateBody,
      response: objectCreated,
      handle: async ({ body, principal }) => {
        const version = await createObject(dependencies, principal, body)
        await published(principal, version)
        return { digest: version.digest, object_id: version.objectId }
      },
    }),
    route({
      ...shared,
      path: "/obj/read",
      access: { right: "read", of: "project body.project_id" },
      summary: "Read a version of an object by digest, index, alias or as the latest",
      schemas: { body: objectReadBody },
      response: objectRead,
      handle: async ({ body, principal, reply }) => reply.type(json).send(await readObject(database, principal, body)),
    }),
    route({
      ...shared,
      path: "/objs/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "List versions of objects",
      schemas: { body: objectQueryBody },
      response: objectList,
      handle: async ({ body, principal, reply }) =>
        sendStream(reply, json, jsonDocument("objs", await queryObjects(database, principal, body))),
    }),
    route({
      ...shared,
      path: "/obj/delete",
      access: { right: "write", of: "project body.project_id" },
      summary: "Delete versions of an object",
      schemas: { body: objectDeleteBody },
      response: objectsDeleted,
      handle: async ({ body, principal }) => deleteObject(database, principal, body),
    }),
  ]
}
