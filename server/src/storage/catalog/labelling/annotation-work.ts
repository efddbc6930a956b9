/** How far queues are, and who works on them: counts over items, records and leases. Leases that have run out count no more. */
import { sql } from "kysely"
import { isUuid } from "../identifiers.ts"
import { isoText } from "../iso-time.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface QueueCounts {
  queueId: string
  total: number
  finished: number
  held: number
  part: number
  returned: number
  open: number
  ownCompleted: number
  ownSkipped: number
  ownOpen: number
}

/** Counts of the project's live queues. `userId`: the annotator whose own counts are included. */
export async function countWork(
  database: CatalogDatabase,
  projectId: string,
  queueIds: readonly string[],
  userId: string,
): Promise<QueueCounts[]> {
  const ids = queueIds.filter(isUuid)
  if (ids.length === 0) return []
  const { rows } = await sql<QueueCounts>`
    with chosen as (
      select q.id, coalesce(q.required_annotators, 1) as places from annotation_queues q
      where q.project_id = ${projectId} and q.deleted_at is null and q.id in (${uuids(ids)})),
    done as (
      select p.item_id, count(*) filter (where p.state = 'completed') as completed,
        count(*) filter (where p.state = 'skipped') as skipped,
        bool_or(p.user_id = ${userId} and p.state = 'completed') as own_completed,
        bool_or(p.user_id = ${userId} and p.state = 'skipped') as own_skipped
      from annotation_progress p join annotation_items i on i.id = p.item_id join chosen c on c.id = i.queue_id
      group by p.item_id),
    hands as (
      select l.item_id, count(*) filter (where l.expires_at > clock_timestamp()) as held,
        count(*) filter (where l.expires_at <= clock_timestamp()) as ended,
        bool_or(l.user_id = ${userId} and l.expires_at > clock_timestamp()) as own
      from annotation_leases l join chosen c on c.id = l.queue_id group by l.item_id),
    seen as (
      select i.queue_id,
        case when coalesce(d.completed, 0) >= c.places then 'finished' when coalesce(h.held, 0) > 0 then 'held'
          when coalesce(d.completed, 0) > 0 then 'part' when coalesce(d.skipped, 0) > 0 then 'returned' else 'open' end as kind,
        coalesce(d.own_completed, false) as own_completed, coalesce(d.own_skipped, false) as own_skipped,
        not coalesce(d.own_completed, false) and not coalesce(d.own_skipped, false)
          and (coalesce(h.own, false) or i.free_places + coalesce(h.ended, 0) > 0) as own_open
      from annotation_items i join chosen c on c.id = i.queue_id
      left join done d on d.item_id = i.id left join hands h on h.item_id = i.id
      where i.deleted_at is null)
    select c.id as "queueId", count(s.kind)::integer as total,
      (count(*) filter (where s.kind = 'finished'))::integer as finished,
      (count(*) filter (where s.kind = 'held'))::integer as held,
      (count(*) filter (where s.kind = 'part'))::integer as part,
      (count(*) filter (where s.kind = 'returned'))::integer as returned,
      (count(*) filter (where s.kind = 'open'))::integer as open,
      (count(*) filter (where s.own_completed))::integer as "ownCompleted",
      (count(*) filter (where s.own_skipped))::integer as "ownSkipped",
      (count(*) filter (where s.own_open))::integer as "ownOpen"
    from chosen c left join seen s on s.queue_id = c.id group by c.id`.execute(database)
  return rows
}

export interface AnnotatorCounts {
  queueId: string
  userId: string
  completed: number
  skipped: number
  holding: number
  lastActiveAt: string
}

/** Annotators per queue, over live items. */
export async function countAnnotators(
  database: CatalogDatabase,
  queueIds: readonly string[],
): Promise<AnnotatorCounts[]> {
  if (queueIds.length === 0) return []
  const { rows } = await sql<AnnotatorCounts>`
    select a.queue_id as "queueId", a.user_id as "userId", sum(a.completed)::integer as completed,
      sum(a.skipped)::integer as skipped, sum(a.holding)::integer as holding,
      ${isoText<string>("a.at")} as "lastActiveAt"
    from (
      select s.queue_id, s.user_id, s.completed, s.skipped, s.holding,
        max(s.at) over (partition by s.queue_id, s.user_id) as at
      from (
        select i.queue_id, p.user_id, (p.state = 'completed')::integer as completed,
          (p.state = 'skipped')::integer as skipped, 0 as holding, p.updated_at as at
        from annotation_progress p join annotation_items i on i.id = p.item_id
        where i.queue_id in (${uuids(queueIds)}) and i.deleted_at is null
        union all
        select l.queue_id, l.user_id, 0, 0, 1, l.leased_at from annotation_leases l
        where l.queue_id in (${uuids(queueIds)}) and l.expires_at > clock_timestamp()) as s) as a
    group by a.queue_id, a.user_id, a.at`.execute(database)
  return rows
}

const uuids = (ids: readonly string[]) => sql.join(ids.map((id) => sql`${id}::uuid`))
