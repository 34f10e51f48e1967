import type { SqlClient } from '#platform/postgres/client.ts'

/**
 * Has the database claim jobs in turn: of sites, then of groups. pg-boss claims by age, so a site with a backlog holds up all
 * others, and it reads past each waiting job of a group that may not have another one running.
 *
 * Each probe reads one entry of an index, however many jobs wait. A function that changes gets another name: replicas of an
 * earlier version may still call it.
 */
export async function installTurns(owner: SqlClient): Promise<void> {
  await installOnce(owner, 'claim_turns_1', [
    SITE_KEY,
    INDEXES,
    WAITING_SITES,
    MAY_RUN,
    CLAIM,
    NEXT_OF_SITE,
    CLAIM_TURNS,
  ])
  await installOnce(owner, 'claim_turns_2', [CLAIM_AND_LOOK])
  await installOnce(owner, 'claim_turns_3', [CLAIM_ALONE])
}

/** `last` is the name of a function that the last of the statements makes. */
async function installOnce(
  owner: SqlClient,
  last: string,
  statements: readonly string[],
): Promise<void> {
  const [installed] = await owner`
    select from pg_proc where proname = ${last} and pronamespace = 'pgboss'::regnamespace`
  if (!installed) await owner.unsafe(statements.join(';\n'))
}

const MIN_KEY = `'-9223372036854775808'::bigint`
const MAX_KEY = `'9223372036854775807'::bigint`
/** Where so few jobs could begin they are looked at one by one, rather than all sites that have jobs for later. */
const FEW = 50
/** Groups of a site that are looked at for one that has a job now, before its jobs are. */
const MAX_PROBES = 32

/** Of a table that was never analyzed the planner thinks that sorting a few rows is less work. */
const BY_INDEX = 'set enable_sort = off set enable_bitmapscan = off set enable_seqscan = off'

/** Sites in the order of their turns. A hash, so that no name is always first, and any number is a fair place to begin. */
const SITE_KEY = `
  create function pgboss.site_key(data jsonb) returns bigint language sql immutable parallel safe
  return hashtextextended(data ->> 'siteId', 0)`

const INDEXES = `
  create index job_turn
    on pgboss.job (name, state, pgboss.site_key(data), coalesce(group_id, '-'), start_after)
    where state < 'active' and not blocked;
  create index job_due on pgboss.job (name, state, start_after)
    where state < 'active' and not blocked;
  create index job_active_site on pgboss.job (name, pgboss.site_key(data)) where state = 'active'`

/** Sites with waiting jobs, whose keys are above one and not above another, by one probe each. */
const WAITING_SITES = `
  create function pgboss.waiting_sites_1(
    queue text, wanted pgboss.job_state, above bigint, upto bigint)
  returns setof bigint language sql stable
  begin atomic
    with recursive site (key) as (
      (select pgboss.site_key(data) from pgboss.job
        where name = queue and state = wanted and state < 'active' and not blocked
          and pgboss.site_key(data) > above and pgboss.site_key(data) <= upto
        order by pgboss.site_key(data) limit 1)
      union all
      select (select pgboss.site_key(data) from pgboss.job
        where name = queue and state = wanted and state < 'active' and not blocked
          and pgboss.site_key(data) > site.key and pgboss.site_key(data) <= upto
        order by pgboss.site_key(data) limit 1)
      from site where site.key is not null
    )
    select key from site where key is not null;
  end`

/** Whether another job of a site, and of a group, may run beside those that do. */
const MAY_RUN = `
  create function pgboss.may_run_1(
    queue text, site bigint, of_group text, per_site int, per_group int, skipped text[])
  returns boolean language sql volatile
  begin atomic
    select coalesce(of_group <> all(skipped), true)
      and (per_site is null or per_site > (
        select count(*) from pgboss.job
        where name = queue and state = 'active' and pgboss.site_key(data) = site))
      and (per_group is null or of_group is null or per_group > (
        select count(*) from pgboss.job
        where name = queue and state = 'active' and group_id = of_group));
  end`

/** As pg-boss does. Nothing when another replica was first. */
const CLAIM = `
  create function pgboss.claim_1(queue text, job_id uuid, wanted pgboss.job_state)
  returns setof pgboss.job language sql volatile
  begin atomic
    update pgboss.job set
      state = 'active', started_on = now(), heartbeat_on = now(),
      retry_count = case when started_on is null then retry_count else retry_count + 1 end
    where name = queue and state = wanted and id = (
      select id from pgboss.job
      where name = queue and id = job_id and state = wanted for update skip locked)
    returning *;
  end`

/** The first job that is due of the next group of a site that has one and may have another one running. */
const NEXT_OF_SITE = `
  create function pgboss.next_of_site_1(
    queue text, site bigint, wanted pgboss.job_state, turn text, per_group int, skipped text[])
  returns uuid language plpgsql volatile ${BY_INDEX} as $$
  declare
    at text := turn;
    has_lapped boolean := false;
    found_id uuid;
  begin
    for probe in 1..${MAX_PROBES} loop
      at := (select coalesce(group_id, '-') from pgboss.job
        where name = queue and state = wanted and state < 'active' and not blocked
          and pgboss.site_key(data) = site and coalesce(group_id, '-') > at
        order by coalesce(group_id, '-') limit 1);
      if at is null or (has_lapped and at > turn) then
        if has_lapped then return null; end if;
        has_lapped := true;
        at := '';
        continue;
      end if;
      continue when not pgboss.may_run_1(queue, site, at, null, per_group, skipped);
      select id into found_id from pgboss.job
        where name = queue and state = wanted and state < 'active' and not blocked
          and pgboss.site_key(data) = site and coalesce(group_id, '-') = at
          and start_after <= now()
        order by start_after limit 1 for update skip locked;
      if found then return found_id; end if;
    end loop;
    select id into found_id from pgboss.job
      where name = queue and state = wanted and state < 'active' and not blocked
        and start_after <= now() and pgboss.site_key(data) = site
        and pgboss.may_run_1(queue, site, group_id, null, per_group, skipped)
      order by start_after limit 1 for update skip locked;
    return found_id;
  end $$`

/**
 * Claims up to so many jobs of a queue, one of each site that has one, from the site on that follows `turn`. `group_turns` has
 * the group of each site that had the last turn, by the site's key.
 */
const CLAIM_TURNS = `
  create function pgboss.claim_turns_1(
    queue text, count int, states pgboss.job_state[], turn bigint, group_turns jsonb,
    per_site int, per_group int, skipped text[])
  returns table (
    job_id uuid, job_data jsonb, attempts int, expire_after int, site bigint, job_group text)
  language plpgsql volatile ${BY_INDEX} as $$
  declare
    wanted pgboss.job_state;
    due uuid[];
    next record;
    claimed pgboss.job;
    served bigint[] := '{}';
  begin
    foreach wanted in array states loop
      due := array(select id from pgboss.job
        where name = queue and state = wanted and state < 'active' and not blocked
          and start_after <= now()
        order by start_after limit ${FEW + 1});
      continue when cardinality(due) = 0;
      for next in
        select pgboss.site_key(data) as site, id as due_id, group_id from pgboss.job
          where cardinality(due) <= ${FEW} and name = queue and id = any(due)
          order by pgboss.site_key(data) <= turn, pgboss.site_key(data),
            coalesce(group_id <= group_turns ->> pgboss.site_key(data)::text, false), group_id,
            start_after
      loop
        exit when cardinality(served) >= count;
        continue when next.site = any(served) or not pgboss.may_run_1(
          queue, next.site, next.group_id, per_site, per_group, skipped);
        select * into claimed from pgboss.claim_1(queue, next.due_id, wanted);
        continue when not found;
        served := served || next.site;
        return query select claimed.id, claimed.data, claimed.retry_count,
          claimed.expire_seconds, next.site, claimed.group_id;
      end loop;
      continue when cardinality(due) <= ${FEW};
      for next in
        select above.key as site
          from pgboss.waiting_sites_1(queue, wanted, turn, ${MAX_KEY}) above (key)
        union all
        select upto.key from pgboss.waiting_sites_1(queue, wanted, ${MIN_KEY}, turn) upto (key)
      loop
        exit when cardinality(served) >= count;
        continue when next.site = any(served) or not pgboss.may_run_1(
          queue, next.site, null, per_site, null, '{}');
        select * into claimed from pgboss.claim_1(queue, pgboss.next_of_site_1(
          queue, next.site, wanted, coalesce(group_turns ->> next.site::text, ''), per_group,
          skipped), wanted);
        continue when not found;
        served := served || next.site;
        return query select claimed.id, claimed.data, claimed.retry_count,
          claimed.expire_seconds, next.site, claimed.group_id;
      end loop;
    end loop;
  end $$`

/** The same, and then one row without a job, which says whether more jobs in those states are due. */
const CLAIM_AND_LOOK = `
  create function pgboss.claim_turns_2(
    queue text, count int, states pgboss.job_state[], turn bigint, group_turns jsonb,
    per_site int, per_group int, skipped text[])
  returns table (
    job_id uuid, job_data jsonb, attempts int, expire_after int, site bigint, job_group text,
    is_more_due boolean)
  language plpgsql volatile ${BY_INDEX} as $$
  declare
    wanted pgboss.job_state;
  begin
    return query select claimed.*, null::boolean from pgboss.claim_turns_1(
      queue, count, states, turn, group_turns, per_site, per_group, skipped) as claimed;
    is_more_due := false;
    foreach wanted in array states loop
      is_more_due := is_more_due or exists (select from pgboss.job
        where name = queue and state = wanted and state < 'active' and not blocked
          and start_after <= now());
    end loop;
    return next;
  end $$`

/**
 * The same, one process after the other where a site or a group may run only so many jobs: two that claim at once would each count
 * them before the other's claim. The lock ends with the statement.
 */
const CLAIM_ALONE = `
  create function pgboss.claim_turns_3(
    queue text, count int, states pgboss.job_state[], turn bigint, group_turns jsonb,
    per_site int, per_group int, skipped text[])
  returns table (
    job_id uuid, job_data jsonb, attempts int, expire_after int, site bigint, job_group text,
    is_more_due boolean)
  language plpgsql volatile as $$
  begin
    if per_site is not null or per_group is not null then
      perform pg_advisory_xact_lock(hashtextextended('claim_turns ' || queue, 0));
    end if;
    return query select * from pgboss.claim_turns_2(
      queue, count, states, turn, group_turns, per_site, per_group, skipped);
  end $$`
