/** `/obj/…` and `/objs/query`: evaluation-store-objects 3. */
import { type Route, route } from "../../http/route.ts"
import type { JsonCursor } from "../../json/json-cursor.ts"
import {
  objectCreateBody,
  objectCreated,
  objectDeleteBody,
  objectList,
  objectQueryBody,
  objectRead,
  objectReadBody,
  objectsDeleted,
} from "../../wire/evaluation/object.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { createObject } from "./object-create.ts"
import { deleteObject, queryObjects, readObject } from "./object-read.ts"
import { readBody } from "../requests/request-text.ts"

const shared = { method: "POST", access: "key", dialect: "reason", tag: "Objects" } as const
const json = "application/json; charset=utf-8"

export function objectRoutes(dependencies: EvaluationDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      path: "/obj/create",
      summary: "Publish a version of an object",
      schemas: {},
      rawBody: true,
      bodyDocument: objectCreateBody,
      response: objectCreated,
      handle: async ({ body, principal }) => {
        const { obj } = readBody(objectCreateBody, body, { "obj.val": (cursor: JsonCursor) => cursor.value() })
        return createObject(dependencies, principal, { obj, text: obj.val as string | undefined })
      },
    }),
    route({
      ...shared,
      path: "/obj/read",
      summary: "Read a version of an object by digest, index, alias or as the latest",
      schemas: { body: objectReadBody },
      response: objectRead,
      handle: async ({ body, principal, reply }) => reply.type(json).send(await readObject(database, principal, body)),
    }),
    route({
      ...shared,
      path: "/objs/query",
      summary: "List versions of objects",
      schemas: { body: objectQueryBody },
      response: objectList,
      handle: async ({ body, principal, reply }) =>
        reply.type(json).send(await queryObjects(database, principal, body)),
    }),
    route({
      ...shared,
      path: "/obj/delete",
      summary: "Delete versions of an object",
      schemas: { body: objectDeleteBody },
      response: objectsDeleted,
      handle: async ({ body, principal }) => deleteObject(database, principal, body),
    }),
  ]
}
