/** Alerts that scripts raise about their runs, by `run.alert`: platform-wandb 5.10. */
import { addRunAlert, listRunAlerts } from "../../storage/catalog/runs/run-alerts.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { runAlertInput } from "../../wire/platform/run-inputs.ts"
import { checkedInput } from "./checked-input.ts"
import { namesOfRun, requireRun } from "./run-access.ts"
import type { RunContext } from "./run-context.ts"
import { countBefore, cursorAt, globalId } from "./run-ids.ts"

const mostAlerts = 100
/** What is longer counts as so long. */
const mostWaitMs = 366 * 24 * 3600 * 1000

export function alertMutations(context: RunContext) {
  return {
    notifyScriptableRunAlert: async ({ input }: { input?: unknown }) => {
      const { title, text, severity, waitDuration, ...names } = checkedInput("alert", runAlertInput, input)
      const { database, principal } = context
      const { run, entity } = await requireRun(database, principal, namesOfRun(principal, names))
      await usageOf(database)?.requireRoom(entity)
      const waitMs = Math.min(waitDuration ?? 0, mostWaitMs)
      return { success: await addRunAlert(database, run, { title, text, severity: severity ?? "INFO", waitMs }) }
    },
  }
}

export interface AlertsArguments {
  after?: string | null
  first?: number | null
}

/** Of a project, or of one of its runs: `runId`. The newest first. */
export async function alertsField(
  { database, reads }: RunContext,
  of: { projectId: string; runId: string | null },
  { after, first }: AlertsArguments,
) {
  const limit = Math.min(Math.max(first ?? 50, 1), mostAlerts)
  // A cursor is the number of the alert that a page ended with.
  const before = countBefore(after) || null
  const alerts = await reads.load(() => listRunAlerts(database, { ...of, before, limit: limit + 1 }))
  const page = alerts.slice(0, limit)
  const last = page.at(-1)
  return {
    edges: page.map(({ sequence, run, title, text, severity, created_at }) => ({
      node: {
        id: globalId("RunAlert", String(sequence)),
        runName: run,
        title,
        text,
        severity,
        createdAt: created_at.toISOString(),
      },
      cursor: cursorAt(sequence),
    })),
    pageInfo: {
      hasNextPage: alerts.length > page.length,
      endCursor: last === undefined ? null : cursorAt(last.sequence),
    },
  }
}
