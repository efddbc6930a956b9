/** Creating datasets, models, ops, scorers and evaluations: evaluation-store-objects 2.2 and 7. */
import { z } from "zod"
import { type Route, route } from "../../http/route.ts"
import type { TableRow } from "../../storage/traces/table-rows.ts"
import {
  datasetCreateBody,
  datasetCreated,
  evaluationCreateBody,
  evaluationCreated,
  familyParams,
  modelCreateBody,
  modelCreated,
  opCreateBody,
  opCreated,
  scorerCreateBody,
  scorerCreated,
} from "../../wire/evaluation/object-families.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { RefProjects } from "../refs/internal-refs.ts"
import { objectTextOrNull, readBody } from "../requests/request-text.ts"
import { TableRowReader } from "../tables/table-row-reader.ts"
import { createDataset, datasets } from "./datasets.ts"
import { createEvaluation, evaluations } from "./evaluations.ts"
import { createdVersion, type ObjectFamily, projectNameOf, refOf } from "./family.ts"
import { createModel, models } from "./models.ts"
import { createOp, ops } from "./ops.ts"
import { createScorer, scorers } from "./scorers.ts"

export function createRoutes(dependencies: EvaluationDependencies): Route[] {
  return [datasetRoute, modelRoute, opRoute, scorerRoute, evaluationRoute].map((create) => create(dependencies))
}

function sharedBy({ name, noun, tag }: ObjectFamily) {
  const summary = `Publish ${noun}; the same content under the same name is the same version`
  return {
    method: "POST",
    access: "key",
    dialect: "reason",
    tag,
    path: `/v2/:entity/:project/${name}`,
    summary,
  } as const
}

/** Rows and attributes stay text. */
const readDataset = datasetCreateBody.extend({ rows: z.array(z.custom<TableRow>()) })
const readModel = modelCreateBody.extend({ attributes: z.string().nullish() })
const readEvaluation = evaluationCreateBody.extend({ eval_attributes: z.string().nullish() })

function datasetRoute(dependencies: EvaluationDependencies): Route {
  return route({
    ...sharedBy(datasets),
    schemas: { params: familyParams },
    rawBody: true,
    bodyDocument: datasetCreateBody,
    response: datasetCreated,
    handle: async ({ params, body, principal }) => {
      const reader = new TableRowReader(new RefProjects(dependencies.database, principal))
      let count = 0
      const read = readBody(readDataset, body, {
        "rows.*": (cursor) => reader.take(cursor, ["body", "rows", count++]),
      })
      return createdVersion(await createDataset(dependencies, principal, projectNameOf(params), { ...read, reader }))
    },
  })
}

function modelRoute(dependencies: EvaluationDependencies): Route {
  return route({
    ...sharedBy(models),
    schemas: { params: familyParams },
    rawBody: true,
    bodyDocument: modelCreateBody,
    response: modelCreated,
    handle: async ({ params, body, principal }) => {
      const projectName = projectNameOf(params)
      const { attributes, ...rest } = readBody(readModel, body, {
        attributes: objectTextOrNull(["body", "attributes"]),
      })
      const version = await createModel(dependencies, principal, projectName, {
        ...rest,
        attributes: attributes ?? null,
      })
      return { ...createdVersion(version), model_ref: refOf("object", projectName, version) }
    },
  })
}

function opRoute(dependencies: EvaluationDependencies): Route {
  return route({
    ...sharedBy(ops),
    schemas: { params: familyParams, body: opCreateBody },
    response: opCreated,
    handle: async ({ params, body, principal }) =>
      createdVersion(await createOp(dependencies, principal, projectNameOf(params), body)),
  })
}

function scorerRoute(dependencies: EvaluationDependencies): Route {
  return route({
    ...sharedBy(scorers),
    schemas: { params: familyParams, body: scorerCreateBody },
    response: scorerCreated,
    handle: async ({ params, body, principal }) => {
      const projectName = projectNameOf(params)
      const version = await createScorer(dependencies, principal, projectName, body)
      return { ...createdVersion(version), scorer: refOf("object", projectName, version) }
    },
  })
}

function evaluationRoute(dependencies: EvaluationDependencies): Route {
  return route({
    ...sharedBy(evaluations),
    schemas: { params: familyParams },
    rawBody: true,
    bodyDocument: evaluationCreateBody,
    response: evaluationCreated,
    handle: async ({ params, body, principal }) => {
      const projectName = projectNameOf(params)
      const takers = { eval_attributes: objectTextOrNull(["body", "eval_attributes"]) }
      const { eval_attributes, ...rest } = readBody(readEvaluation, body, takers)
      const fields = { ...rest, eval_attributes: eval_attributes ?? null }
      const version = await createEvaluation(dependencies, principal, projectName, fields)
      return { ...createdVersion(version), evaluation_ref: refOf("object", projectName, version) }
    },
  })
}
