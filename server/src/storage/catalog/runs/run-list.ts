/** Runs of a project in pages. */
import { sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
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

/** Time limit of a read: a client's patterns are matched against every run. */
const longestMs = 10_000

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

const invalidPattern = "2201B"
const queryCanceled = "57014"

/** @throws {HeddleError} `bad_query` for a pattern that is none, or takes too long. */
async function withinTime<T>(
  database: CatalogDatabase,
  work: (transaction: CatalogDatabase) => Promise<T>,
): Promise<T> {
  try {
    return await database.transaction().execute(async (transaction) => {
      await sql.raw(`set local statement_timeout = ${longestMs}`).execute(transaction)
      return work(transaction)
    })
  } catch (cause) {
    const code = (cause as { code?: unknown }).code
    if (code === invalidPattern) throw new HeddleError("bad_query", "the filter's $regex is no pattern", { cause })
    if (code === queryCanceled)
      throw new HeddleError("bad_query", "the filter takes too long; make it simpler", { cause })
    throw cause
  }
}
