/** Reading a job's events in their one order (training-api 1.3, 3.1). */
import type { TrainingEventType } from "../schema.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { isUuid } from "../identifiers.ts"

export interface EventRecord {
  id: string
  /** Its place in the job. */
  sequence: number
  type: TrainingEventType
  data: Record<string, unknown>
  createdAt: Date
}

/** The place of event `id` in the job. null: the job has no such event. */
export async function sequenceOfEvent(database: CatalogDatabase, jobId: string, id: string): Promise<number | null> {
  if (!isUuid(id)) return null
  const row = await database
    .selectFrom("training_job_events")
    .select("sequence")
    .where("job_id", "=", jobId)
    .where("id", "=", id)
    .executeTakeFirst()
  return row?.sequence ?? null
}

/** The gradient steps of a job after step `after`, which counts from 1, in their order. */
export async function gradientSteps(
  database: CatalogDatabase,
  jobId: string,
  after: number,
): Promise<{ number: number; metrics: Record<string, number>; at: Date }[]> {
  const rows = await database
    .selectFrom("training_job_events")
    .select(["sequence as number", "data", "created_at as at"])
    .where("job_id", "=", jobId)
    .where("type", "=", "gradient_step")
    .where("sequence", ">", after)
    .orderBy("sequence")
    .execute()
  return rows.map(({ number, data, at }) => ({ number, metrics: data as Record<string, number>, at }))
}

/** Oldest first, strictly after place `afterSequence`. */
export async function listEvents(
  database: CatalogDatabase,
  jobId: string,
  afterSequence: number,
  limit: number,
): Promise<EventRecord[]> {
  return database
    .selectFrom("training_job_events")
    .select(["id", "sequence", "type", "data", "created_at as createdAt"])
    .where("job_id", "=", jobId)
    .where("sequence", ">", afterSequence)
    .orderBy("sequence")
    .limit(limit)
    .execute()
}
