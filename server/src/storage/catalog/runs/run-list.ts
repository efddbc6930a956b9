/** Runs of a project in pages. */
import { sql } from "kysely"
import { inOrder } from "../in-order.ts"
import { withinTime } from "../list-filter.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { fittingPage } from "../page-bytes.ts"
import { documentsOfRun, runCondition, runOrder } from "./run-filter.ts"
import { namedRuns, type RunRecord } from "./runs.ts"

export interface RunSelection {
  projectId: string
  /** As the client wrote it; null: all. */
  filter: unknown
  order: string
  /** How many of them come before the page. */
  skip: number
  limit: number
}

/** At most `limit` of them, fewer where they are large, and whether there are more. */
export async function listRuns(
  database: CatalogDatabase,
  { projectId, filter, order, skip, limit }: RunSelection,
): Promise<{ runs: RunRecord[]; hasMore: boolean }> {
  const { value, isDescending } = runOrder(order)
  const direction = isDescending ? sql`desc` : sql`asc`
  return withinTime(database, async (transaction) => {
    const found = await transaction
      .selectFrom("runs")
      .innerJoin("users", "users.id", "runs.user_id")
      .select(["runs.id", bytesOfRun])
      .innerJoinLateral(documentsOfRun, (join) => join.onTrue())
      .where("runs.project_id", "=", projectId)
      .where(filter === null ? sql<boolean>`true` : runCondition(filter))
      .orderBy(sql`${value} ${direction} nulls last`)
      .orderBy(sql`runs.created_at ${direction}`)
      .orderBy(sql`runs.id ${direction}`)
      .offset(skip)
      .limit(limit + 1)
      .execute()
    const ids = fittingPage(found.slice(0, limit)).map(({ id }) => id)
    const runs = ids.length === 0 ? [] : await namedRuns(transaction).where("runs.id", "in", ids).execute()
    return { runs: inOrder(ids, runs), hasMore: found.length > ids.length }
  })
}

/** Of its long texts. */
const bytesOfRun =
  sql<number>`octet_length(runs.config) + octet_length(runs.summary) + coalesce(octet_length(runs.notes), 0)
  + coalesce(octet_length(runs.description), 0) + octet_length(runs.tags::text)`.as("bytes")

export async function countRuns(database: CatalogDatabase, projectId: string, filter: unknown): Promise<number> {
  const { count } = await withinTime(database, (transaction) =>
    transaction
      .selectFrom("runs")
      .innerJoin("users", "users.id", "runs.user_id")
      .innerJoinLateral(documentsOfRun, (join) => join.onTrue())
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("runs.project_id", "=", projectId)
      .where(filter === null ? sql<boolean>`true` : runCondition(filter))
      .executeTakeFirstOrThrow(),
  )
  return count
}
