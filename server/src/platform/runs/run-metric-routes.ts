/** The curves of a run, for whoever draws them: no peak of them is lost, however few points are asked for. */
import { invalid } from "../../errors.ts"
import { type Route, route } from "../../http/route.ts"
import { notFiniteValues } from "../../storage/traces/runs/not-finite.ts"
import { loggedNames, ownColumns, runPoints, runPointsOver } from "../../storage/traces/runs/run-curves.ts"
import { runMetricsAnswer, runMetricsParams, runMetricsQuery } from "../../wire/platform/run.ts"
import { curvesOf } from "../../wire/training/model-metrics.ts"
import { requireRun } from "./run-access.ts"
import type { RunDependencies } from "./run-dependencies.ts"

/** Limit on the points of all curves of one answer. */
const mostPoints = 50_000

export function runMetricRoutes({ database, traces }: RunDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/runs/:entity/:project/:run/metrics",
      access: { right: "read", of: "run path.entity/project/run" },
      dialect: "openai",
      summary: "Read metrics of a run of the wandb client, with the lowest and highest value of each point",
      tag: "Runs",
      schemas: { params: runMetricsParams, query: runMetricsQuery },
      response: runMetricsAnswer,
      refusals: ["404"],
      handle: async ({ params, query: { source, metric = [], points, x }, principal }) => {
        const { run } = await requireRun(database, principal, params)
        if (metric.length * points > mostPoints) throw tooMany()
        if (x !== undefined && source === "system") throw noColumns()
        const key = { projectId: run.project_id, runId: run.id }
        const { metrics, media } = await loggedNames(traces, key, source)
        const hasAxis = x === undefined || ownColumns.has(x) || metrics.includes(x)
        const wanted = [...new Set(metric)].filter((name) => hasAxis && metrics.includes(name))
        return {
          object: "list",
          metrics,
          media,
          data: curvesOf(
            x === undefined
              ? await runPoints(traces, key, { source, metrics: wanted, points })
              : await runPointsOver(traces, key, { x, metrics: wanted, points }),
          ),
          not_finite: source === "history" ? await notFiniteValues(traces, key, wanted) : [],
        }
      },
    }),
  ]
}

function tooMany() {
  return invalid(
    ["query", "points"],
    `the answer could have more than ${mostPoints} points: name fewer metrics, or ask for fewer points`,
  )
}

function noColumns() {
  return invalid(["query", "x"], "system rows have no columns of the program; they are read by their number alone")
}
