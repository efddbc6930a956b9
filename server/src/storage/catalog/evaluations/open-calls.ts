/**
 * Calls that this server is recording: a row is there before the call begins and until it has ended.
 * One process owns a catalog, so what a start finds here was cut off by the end of the last one.
 */
import { sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface OpenCall {
  projectId: string
  callId: string
}

export async function insertOpenCall(database: CatalogDatabase, { projectId, callId }: OpenCall): Promise<void> {
  await database.insertInto("open_calls").values({ project_id: projectId, call_id: callId }).execute()
}

/** Calls of one project. */
export async function findOpenCalls(database: CatalogDatabase, limit: number): Promise<OpenCall[]> {
  return database
    .selectFrom("open_calls")
    .select(["project_id as projectId", "call_id as callId"])
    .where("project_id", "=", (first) => first.selectFrom("open_calls").select("project_id").limit(1))
    .limit(limit)
    .execute()
}

export async function deleteOpenCalls(
  database: CatalogDatabase,
  projectId: string,
  callIds: readonly string[],
): Promise<void> {
  await database
    .deleteFrom("open_calls")
    .where("project_id", "=", projectId)
    .where("call_id", "=", sql<string>`any(${callIds})`)
    .execute()
}
