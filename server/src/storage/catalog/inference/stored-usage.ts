/** How many bytes teams store, as the catalog keeps it. Servers that share it add to it, none sets it. */
import { sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface StoredTotal {
  entityId: string
  bytes: number
}

/** Adds what was stored (or, below 0, given back) by project and by team; returns the totals of those teams. */
export async function addStoredBytes(
  database: CatalogDatabase,
  ofProjects: ReadonlyMap<string, number>,
  ofTeams: ReadonlyMap<string, number>,
): Promise<StoredTotal[]> {
  const given = (bytes: ReadonlyMap<string, number>) =>
    sql`unnest(${[...bytes.keys()]}::uuid[], ${[...bytes.values()]}::bigint[]) as g (id, bytes)`
  const { rows } = await sql<StoredTotal>`
    insert into team_usage as u (entity_id, stored_bytes)
    select entity_id, sum(bytes) from (
      select p.entity_id, g.bytes from ${given(ofProjects)} join all_projects p on p.id = g.id
      union all select e.id, g.bytes from ${given(ofTeams)} join entities e on e.id = g.id) as added
    group by entity_id order by entity_id
    on conflict (entity_id) do update set stored_bytes = u.stored_bytes + excluded.stored_bytes
    returning entity_id as "entityId", stored_bytes as bytes`.execute(database)
  return rows
}

/** Below 0 for a moment, when more is given back than was counted. */
export async function storedBytes(database: CatalogDatabase, entityId: string): Promise<number> {
  const row = await database
    .selectFrom("team_usage")
    .select("stored_bytes")
    .where("entity_id", "=", entityId)
    .executeTakeFirst()
  return row?.stored_bytes ?? 0
}

export interface MeasuredTeam {
  entityId: string
  projectIds: string[]
  /** As kept when the measure began. */
  kept: number
}

/** The team that was not measured for the longest time, and not in the last day; null: none. Another server takes another. */
export async function nextToMeasure(database: CatalogDatabase): Promise<MeasuredTeam | null> {
  await sql`insert into team_usage (entity_id, stored_bytes) select id, 0 from entities on conflict do nothing`.execute(
    database,
  )
  const { rows } = await sql<{ entity_id: string }>`
    update team_usage set measured_at = now() where entity_id = (
      select entity_id from team_usage where measured_at is null or measured_at < now() - interval '20 hours'
      order by measured_at nulls first limit 1 for update skip locked)
    returning entity_id`.execute(database)
  return rows[0] === undefined ? null : measuredTeam(database, rows[0].entity_id)
}

export async function measuredTeam(database: CatalogDatabase, entityId: string): Promise<MeasuredTeam> {
  // Those too that were deleted: what is left of them takes room until it is removed.
  const projects = await database.selectFrom("all_projects").select("id").where("entity_id", "=", entityId).execute()
  return { entityId, projectIds: projects.map(({ id }) => id), kept: await storedBytes(database, entityId) }
}

/** Bytes of what the catalog names: blobs, checkpoints, objects. */
export async function bytesInCatalog(database: CatalogDatabase, entityId: string): Promise<number> {
  const ofProject = sql`project_id in (select id from all_projects where entity_id = ${entityId})`
  const ofModel = sql`model_id in (select id from models where ${ofProject})`
  const ofArtifact = sql`artifact_id in (select id from artifacts where ${ofProject})`
  const { rows } = await sql<{ bytes: number }>`
    select ((select coalesce(sum(size_bytes), 0) from uploads where entity_id = ${entityId})
      + (select coalesce(sum(size_bytes), 0) from project_files where ${ofProject})
      + (select coalesce(sum(size_bytes), 0) from stored_responses where ${ofProject})
      + (select coalesce(sum(size_bytes), 0) from rollouts where ${ofProject})
      + (select coalesce(sum(size_bytes), 0) from runs where ${ofProject})
      + (select coalesce(sum(size_bytes), 0) from run_files where run_id in (select id from runs where ${ofProject}))
      + (select coalesce(sum(size_bytes), 0) from run_alerts where ${ofProject})
      + (select coalesce(sum(size_bytes), 0) from artifact_contents where ${ofProject} and not is_of_checkpoint)
      + (select coalesce(sum(stored_bytes), 0) from artifacts where ${ofProject})
      + (select coalesce(sum(size_bytes), 0) from artifact_manifests where ${ofArtifact})
      + (select coalesce(sum(p.size_bytes), 0) from artifact_parts p join artifact_uploads u on u.id = p.upload_id
        where u.${ofArtifact})
      + (select coalesce(sum(octet_length(link_metadata)), 0) from dataset_sources where ${ofProject})
      + (select coalesce(sum(size_bytes), 0) from object_versions where ${ofProject} and deleted_at is null)
      + (select coalesce(sum(size_bytes), 0) from trajectory_logs where ${ofModel})
      + (select coalesce(sum(data_bytes), 0) from training_jobs where ${ofModel} and data_sha256 <> '')
      + (select coalesce(sum(size_bytes), 0) from checkpoints where ${ofModel} and deleted_at is null))
      ::bigint as bytes`.execute(database)
  return rows[0]?.bytes ?? 0
}
