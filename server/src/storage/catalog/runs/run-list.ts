/** Runs of a project in pages. */
import { sql } from "kysely"
import { withinTime } from "../list-filter.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
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

export async function listRuns(
  database: CatalogDatabase,
  { projectId, filter, order, skip, limit }: RunSelection,
): Promise<RunRecord[]> {
  const { value, isDescending } = runOrder(order)
  const direction = isDescending ? sql`desc` : sql`asc`
  return withinTime(database, (transaction) =>
    namedRuns(transaction)
      .innerJoinLateral(documentsOfRun, (join) => join.onTrue())
      .where("runs.project_id", "=", projectId)
      .where(filter === null ? sql<boolean>`true` : runCondition(filter))
      .orderBy(sql`${value} ${direction} nulls last`)
      .orderBy(sql`runs.created_at ${direction}`)
      .orderBy(sql`runs.id ${direction}`)
      .offset(skip)
      .limit(limit)
      .execute(),
  )
}

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
