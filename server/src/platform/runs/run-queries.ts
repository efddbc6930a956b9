/** Fields of a project that lead to its runs. */
import { countRuns, listRuns } from "../../storage/catalog/runs/run-list.ts"
import { findRun } from "../../storage/catalog/runs/runs.ts"
import { isStorable } from "../../storage/catalog/storable-text.ts"
import { type AlertsArguments, alertsField } from "./run-alerts.ts"
import { filterOf } from "./given-filter.ts"
import type { RunContext } from "./run-context.ts"
import { countBefore, cursorAt } from "./run-ids.ts"
import { describeRun } from "./run-node.ts"

const mostRuns = 100

interface RunsArguments {
  filters?: unknown
  order?: string | null
  after?: string | null
  first?: number | null
}

/** `projectId`: of the catalog, one that the caller may see. */
export function runFields(context: RunContext, projectId: string) {
  const run = async ({ name }: { name?: string | null }) => {
    if (!name || !isStorable(name)) return null
    const found = await context.reads.load(() => findRun(context.database, projectId, name))
    return found === null ? null : describeRun(context, found)
  }
  return {
    readOnly: false,
    run,
    bucket: run,
    alerts: (given: AlertsArguments) => alertsField(context, { projectId, runId: null }, given),
    runCount: ({ filters }: RunsArguments) => countRuns(context.database, projectId, filterOf(filters)),
    runs: async ({ filters, order, after, first }: RunsArguments) => {
      const limit = Math.min(Math.max(first ?? 50, 1), mostRuns)
      const skip = countBefore(after)
      const selection = { projectId, filter: filterOf(filters), order: order || "+created_at", skip, limit }
      const { runs, hasMore } = await context.reads.load(() => listRuns(context.database, selection))
      return {
        totalCount: () => countRuns(context.database, projectId, selection.filter),
        edges: runs.map((one, index) => ({ node: describeRun(context, one), cursor: cursorAt(skip + index + 1) })),
        pageInfo: {
          hasNextPage: hasMore,
          endCursor: runs.length === 0 ? null : cursorAt(skip + runs.length),
        },
      }
    },
  }
}
