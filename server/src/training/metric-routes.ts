/** The curves of models, for whoever draws them: no point of them is lost, however few are asked for. */
import { invalid } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import { metricNames, metricPoints, newestStep } from "../storage/catalog/training/model-metrics.ts"
import { curvesOf, modelMetricsAnswer, modelMetricsQuery } from "../wire/training/model-metrics.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { modelOf } from "./model-access.ts"

/** Limit on the points of all curves of one answer, some 20 MB. */
const mostPoints = 200_000

export function metricRoutes({ database }: TrainingDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/preview/model-metrics",
      access: { right: "read", of: "model query.model_id" },
      dialect: "detail",
      summary: "Read metrics of models by step, with the lowest and highest value of each point",
      tag: "Models",
      schemas: { query: modelMetricsQuery },
      response: modelMetricsAnswer,
      refusals: ["404"],
      handle: async ({ query, principal }) => {
        const models = await Promise.all(query.model_id.map((id) => modelOf(database, principal, id)))
        const modelIds = models.map(({ id }) => id)
        const firstStep = query.from_step ?? 0
        const lastStep = query.to_step ?? (await newestStep(database, modelIds))
        const stepsPerPoint = Math.max(1, Math.ceil((lastStep - firstStep + 1) / query.points))
        const names = await metricNames(database, modelIds)
        const metrics = query.metric ?? [...new Set(names.map(({ metric }) => metric))]
        const pointsOfCurve = Math.ceil((lastStep - firstStep + 1) / stepsPerPoint)
        if (modelIds.length * metrics.length * pointsOfCurve > mostPoints) throw tooMany()
        const points = await metricPoints(database, { modelIds, metrics, firstStep, lastStep, stepsPerPoint })
        return {
          object: "list",
          steps_per_point: stepsPerPoint,
          data: modelIds.map((id) => ({
            model_id: id,
            metrics: names.filter(({ modelId }) => modelId === id).map(({ metric }) => metric),
            curves: curvesOf(points.filter(({ modelId }) => modelId === id)),
          })),
        }
      },
    }),
  ]
}

function tooMany() {
  return invalid(
    ["query", "points"],
    `the answer could have more than ${mostPoints} points: name fewer models or metrics, or ask for fewer points`,
  )
}
