/** `/v2/…/{datasets,models,ops,scorers,evaluations}`: evaluation-store-objects 2.1, 2.2 and 7. */
import { type Route, route } from "../../http/route.ts"
import {
  familyDeleted,
  familyDeleteQuery,
  familyObjectParams,
  familyParams,
  familyVersionParams,
} from "../../wire/objects/object-families.ts"
import { listRangeQuery } from "../../wire/queries/list-query.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { jsonLines, lineTypes, linesType, sendStream } from "../../http/answers/json-stream.ts"
import { checkRange } from "../requests/list-range.ts"
import { deleteObject } from "../object-read.ts"
import { datasets } from "./datasets.ts"
import { evaluations } from "./evaluations.ts"
import { createRoutes } from "./family-create-routes.ts"
import { listMembers, readMember } from "./family-read.ts"
import { type ObjectFamily, projectNameOf } from "./family.ts"
import { models } from "./models.ts"
import { ops } from "./ops.ts"
import { scorers } from "./scorers.ts"

const json = "application/json; charset=utf-8"

export function objectFamilyRoutes(dependencies: StoreDependencies): Route[] {
  return [
    ...createRoutes(dependencies),
    ...[datasets, models, ops, scorers, evaluations].flatMap((family) => readRoutes(dependencies, family)),
  ]
}

function readRoutes(dependencies: StoreDependencies, family: ObjectFamily): Route[] {
  const shared = { dialect: "reason", tag: family.tag } as const
  const path = `/v2/:entity/:project/${family.name}`
  return [
    route({
      ...shared,
      method: "GET",
      path,
      access: { right: "read", of: "project path.entity/project" },
      summary: `List versions of ${family.name} as JSON Lines`,
      schemas: { params: familyParams, query: listRangeQuery },
      response: family.response,
      answerTypes: lineTypes,
      handle: async ({ params, query, principal, request, reply }) => {
        const range = checkRange(query)
        const texts = await listMembers(dependencies, principal, family, projectNameOf(params), range)
        return sendStream(reply, linesType(request.headers.accept), jsonLines(texts))
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: `${path}/:object_id/versions/:digest`,
      access: { right: "read", of: "project path.entity/project" },
      summary: `Read ${family.noun} by digest, index, alias or as the latest`,
      schemas: { params: familyVersionParams },
      response: family.response,
      handle: async ({ params, principal, reply }) => {
        const name = { projectName: projectNameOf(params), objectId: params.object_id, version: params.digest }
        return reply.type(json).send(await readMember(dependencies, principal, family, name))
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: `${path}/:object_id`,
      access: { right: "write", of: "project path.entity/project" },
      summary: `Delete versions of ${family.noun}`,
      schemas: { params: familyObjectParams, query: familyDeleteQuery },
      response: familyDeleted,
      handle: async ({ params, query, principal }) => {
        const named = { project_id: projectNameOf(params), object_id: params.object_id, digests: query.digests ?? null }
        const { num_deleted } = await deleteObject(dependencies.database, principal, named, family.selection)
        return { num_deleted }
      },
    }),
  ]
}
