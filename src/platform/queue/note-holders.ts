import type { SqlClient } from '#platform/postgres/client.ts'

/**
 * Has the database note at each job which process claimed it: pg-boss knows of no such thing, and whoever notes it after the
 * claim may die between the two. A session that has no name leaves none.
 */
export async function noteHolders(owner: SqlClient): Promise<void> {
  // What alters a table waits for everybody who uses it, also where there is nothing to alter.
  const [noted] = await owner`
    select 1 from pg_attribute
    where attrelid = 'pgboss.job'::regclass and attname = 'holder' and not attisdropped`
  if (noted) return
  await owner.unsafe(`
    alter table pgboss.job add column holder int;
    create index job_holder on pgboss.job (holder) where state = 'active' and holder is not null;
    create function pgboss.note_holder() returns trigger language plpgsql as $$
    begin
      new.holder := nullif(current_setting('croft.holder', true), '')::int;
      return new;
    end $$;
    create trigger note_holder before update on pgboss.job
      for each row when (new.state = 'active' and old.state is distinct from new.state)
      execute function pgboss.note_holder();
  `)
}
