/**
 * Who gets which item of an annotation queue, and what an annotator's event does to it, as functions of the catalog
 * (objects 2.5). Annotators wait for these: as functions their statements are planned once a session, and the embedded
 * catalog takes longer to plan them than to run them. `catalog-functions.ts` puts them there.
 *
 * Each one first locks the queue's row (`annotation-lock.ts` says why). `now_` is read after that, because others may
 * have held the row for long.
 */
export const annotationFunctions = [
  // Gives back one place for each time that an item is named, at the end of the queue.
  `create or replace function annotation_free(queue_ uuid, items_ uuid[]) returns void language plpgsql as $$
  declare last_ bigint;
  begin
    update annotation_queues set last_place = last_place + cardinality(items_) where id = queue_
    returning last_place - cardinality(items_) into last_;
    update annotation_items i set free_places = i.free_places + freed.places, place = last_ + freed.position
    from (select f.id, count(*)::integer as places, row_number() over (order by f.place) as position
      from unnest(items_) as given (id) join annotation_items f on f.id = given.id group by f.id, f.place) as freed
    where i.id = freed.id;
  end $$`,
  // Locks a live queue and ends its leases that have run out. No row: there is no such queue.
  `create or replace function annotation_lock(project_ uuid, queue_ uuid) returns setof annotation_queues language plpgsql as $$
  declare now_ timestamptz; ended_ uuid[];
  begin
    perform 1 from annotation_queues q
    where q.id = queue_ and q.project_id = project_ and q.deleted_at is null for no key update;
    if not found then return; end if;
    now_ := clock_timestamp();
    if exists (select 1 from annotation_leases l where l.queue_id = queue_ and l.expires_at <= now_) then
      with gone as (delete from annotation_leases l where l.queue_id = queue_ and l.expires_at <= now_ returning item_id)
      select array_agg(item_id) into ended_ from gone;
      perform annotation_free(queue_, ended_);
    end if;
    return query select * from annotation_queues q where q.id = queue_;
  end $$`,
  `create or replace function annotation_lease(queue_ uuid, item_ uuid, user_ text, seconds_ integer) returns timestamptz
  language sql as $$
    insert into annotation_leases (item_id, user_id, queue_id, expires_at)
    values (item_, user_, queue_, clock_timestamp() + make_interval(secs => seconds_))
    on conflict (item_id, user_id) do update set expires_at = excluded.expires_at
    returning expires_at
  $$`,
  // The next items for an annotator, leased: up to `count_` of those with a free place beyond their cursor, which goes along.
  // One at a time: with a limit that the planner does not know, it would not keep the plan that follows the index.
  `create or replace function annotation_take(queue_ uuid, user_ text, count_ integer, seconds_ integer)
  returns table (item_id uuid, expires_at timestamptz) language plpgsql as $$
  #variable_conflict use_column
  declare free_ uuid; past_ bigint;
  begin
    select c.place into past_ from annotation_cursors c where c.queue_id = queue_ and c.user_id = user_;
    for nth_ in 1..count_ loop
      select i.id, i.place into free_, past_ from annotation_items i
      where i.queue_id = queue_ and i.free_places > 0 and i.deleted_at is null and i.place > coalesce(past_, 0)
        and not exists (select 1 from annotation_progress p
          where p.item_id = i.id and p.user_id = user_ and p.state in ('completed', 'skipped'))
        and not exists (select 1 from annotation_leases l where l.item_id = i.id and l.user_id = user_)
      order by i.place limit 1;
      if not found then
        select q.last_place into past_ from annotation_queues q where q.id = queue_;
        exit;
      end if;
      update annotation_items i set free_places = i.free_places - 1 where i.id = free_;
      -- A microsecond apart: what is held is worked on in the order of the queue, and a clock may stand still between two.
      return query insert into annotation_leases (item_id, user_id, queue_id, leased_at, expires_at)
        values (free_, user_, queue_, clock_timestamp() + nth_ * interval '1 microsecond',
          clock_timestamp() + make_interval(secs => seconds_))
        returning annotation_leases.item_id, annotation_leases.expires_at;
    end loop;
    insert into annotation_cursors (queue_id, user_id, place) values (queue_, user_, past_)
    on conflict (queue_id, user_id) do update set place = excluded.place;
  end $$`,
  // The item that an annotator holds, else the next for them. No row: no queue; no item: none is left for now.
  `create or replace function annotation_next(project_ uuid, queue_ uuid, user_ text, seconds_ integer)
  returns table (item annotation_items, expires_at timestamptz, leased integer) language plpgsql as $$
  declare locked_ annotation_queues; held_ uuid; ends_ timestamptz;
  begin
    select * into locked_ from annotation_lock(project_, queue_);
    if not found then return; end if;
    select l.item_id into held_ from annotation_leases l
    where l.queue_id = queue_ and l.user_id = user_ order by l.leased_at, l.item_id limit 1;
    if held_ is null then
      select t.item_id, t.expires_at into held_, ends_
      from annotation_take(queue_, user_, 1, coalesce(seconds_, locked_.lease_seconds)) t;
    else
      ends_ := annotation_lease(queue_, held_, user_, coalesce(seconds_, locked_.lease_seconds));
    end if;
    if held_ is null then
      return query select null::annotation_items, null::timestamptz,
        (select count(*)::integer from annotation_leases l where l.queue_id = queue_);
    else
      return query select i, ends_, 0 from annotation_items i where i.id = held_;
    end if;
  end $$`,
  // One event of an annotator on an item. `targets_` says by their own state where it leads: the table is the
  // caller's. `outcome` is that, or missing (no such item) or full (it has all its annotators). No row: no queue.
  `create or replace function annotation_event(project_ uuid, queue_ uuid, item_ uuid, user_ text, event_ text, targets_ jsonb)
  returns table (item annotation_items, outcome text, own_state text, expires_at timestamptz) language plpgsql as $$
  declare
    locked_ annotation_queues; row_ annotation_items; own_ text; to_ text; ends_ timestamptz;
    is_leased_ boolean; has_place_ boolean; taken_ integer := 0;
  begin
    select * into locked_ from annotation_lock(project_, queue_);
    if not found then return; end if;
    select * into row_ from annotation_items i where i.id = item_;
    if not found or row_.queue_id <> queue_ or row_.deleted_at is not null then
      return query select null::annotation_items, 'missing', null::text, null::timestamptz;
      return;
    end if;
    select p.state into own_ from annotation_progress p where p.item_id = item_ and p.user_id = user_;
    own_ := coalesce(own_, 'unstarted');
    is_leased_ := exists (select 1 from annotation_leases l where l.item_id = item_ and l.user_id = user_);
    has_place_ := is_leased_ or own_ = 'completed';
    to_ := targets_ ->> own_;
    if to_ in ('in_progress', 'completed') and not has_place_ and row_.free_places <= 0
      and locked_.required_annotators is not null then to_ := 'full'; end if;
    if to_ in ('same', 'refused', 'full') then
      return query select row_, to_, own_, null::timestamptz;
      return;
    end if;
    if to_ <> 'in_progress' and is_leased_ then
      delete from annotation_leases l where l.item_id = item_ and l.user_id = user_;
    end if;
    if to_ = 'skipped' then
      if is_leased_ then perform annotation_free(queue_, array[item_]); end if;
    elsif to_ = 'completed' then
      if not has_place_ then taken_ := 1; end if;
    elsif has_place_ or row_.free_places > 0 then
      -- Work that begins is held for the annotator; the place of what was completed becomes a lease again.
      if not has_place_ then taken_ := 1; end if;
      ends_ := annotation_lease(queue_, item_, user_, locked_.lease_seconds);
    end if;
    insert into annotation_progress (item_id, user_id, state) values (item_, user_, to_)
    on conflict (item_id, user_id) do update set state = excluded.state, updated_at = clock_timestamp();
    insert into annotation_history (item_id, user_id, event, state_before, state_after)
    values (item_, user_, event_, own_, to_);
    update annotation_items i set annotation_state = to_, annotator_user_id = user_,
      free_places = i.free_places - taken_, finished_count = i.finished_count
        + (to_ in ('completed', 'skipped'))::integer - (own_ in ('completed', 'skipped'))::integer
    where i.id = item_ returning i.* into row_;
    return query select row_, to_, own_, ends_;
  end $$`,
]
