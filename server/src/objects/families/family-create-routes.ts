/** Creating datasets, models, ops, scorers and evaluations: evaluation-store-objects 2.2 and 7. */
import { type Route, route } from "../../http/route.ts"
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
} from "../../wire/objects/object-families.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { readForProject } from "../payload/read-body.ts"
import { createDataset, datasets } from "./datasets.ts"
import { createEvaluation, evaluations } from "./evaluations.ts"
import { evaluationTask, modelTask } from "./family-bodies.ts"
import { createdVersion, type ObjectFamily, projectNameOf, refOf } from "./family.ts"
import { createModel, models } from "./models.ts"
import { createOp, ops } from "./ops.ts"
import { createScorer, scorers } from "./scorers.ts"

export function createRoutes(dependencies: StoreDependencies): Route[] {
  return [datasetRoute, modelRoute, opRoute, scorerRoute, evaluationRoute].map((create) => create(dependencies))
}

function sharedBy({ name, noun, tag }: ObjectFamily) {
  const summary = `Publish ${noun}; the same content under the same name is the same version`
  return {
    method: "POST",
    dialect: "reason",
    tag,
    path: `/v2/:entity/:project/${name}`,
    access: { right: "write", of: "project path.entity/project", ingest: true },
    summary,
    hidesKey: true,
  } as const
}

function datasetRoute(dependencies: StoreDependencies): Route {
  return route({
    ...sharedBy(datasets),
    schemas: { params: familyParams },
    rawBody: true,
    bodyDocument: datasetCreateBody,
    response: datasetCreated,
    handle: async (context) =>
      createdVersion(await createDataset(dependencies, projectNameOf(context.params), context)),
  })
}

function modelRoute(dependencies: StoreDependencies): Route {
  return route({
    ...sharedBy(models),
    schemas: { params: familyParams },
    rawBody: true,
    bodyDocument: modelCreateBody,
    response: modelCreated,
    handle: async (context) => {
      const projectName = projectNameOf(context.params)
      const model = await readForProject(dependencies, projectName, modelTask, context)
      const version = await createModel(dependencies, context.principal, projectName, model)
      return { ...createdVersion(version), model_ref: refOf("object", projectName, version) }
    },
  })
}

function opRoute(dependencies: StoreDependencies): Route {
  return route({
    ...sharedBy(ops),
    schemas: { params: familyParams, body: opCreateBody },
    response: opCreated,
    handle: async ({ params, body, principal }) =>
      createdVersion(await createOp(dependencies, principal, projectNameOf(params), body)),
  })
}

function scorerRoute(dependencies: StoreDependencies): Route {
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

function evaluationRoute(dependencies: StoreDependencies): Route {
  return route({
    ...sharedBy(evaluations),
    schemas: { params: familyParams },
    rawBody: true,
    bodyDocument: evaluationCreateBody,
    response: evaluationCreated,
    handle: async (context) => {
      const projectName = projectNameOf(context.params)
      const made = await readForProject(dependencies, projectName, evaluationTask, context)
      const version = await createEvaluation(dependencies, context.principal, projectName, made)
      return { ...createdVersion(version), evaluation_ref: refOf("object", projectName, version) }
    },
  })
}
