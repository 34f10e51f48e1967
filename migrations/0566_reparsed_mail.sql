-- Messages are parsed and indexed again when what is made of them changes.
alter table mail_raw
  -- Which version of the parser and of the index made what is shown: `PARSE_VERSION`. 0 for what was made before there was one.
  add column parse_version integer not null default 0,
  -- When that was last made again: objects that it no longer names go a day later.
  add column reparsed_at timestamptz,
  -- Whether the parser of that version could not take it: what an earlier one made stays.
  add column reparse_failed boolean not null default false;

-- Those that are behind a version, the newest first.
create index mail_raw_by_parse_version on mail_raw (site_id, parse_version, received_at, raw_id) where parse_status <> 'pending';
create index mail_raw_reparse_failed on mail_raw (site_id) where reparse_failed;

-- As before, and says which version made it: [{ …, parse_version }]. A process of an earlier version names none.
create or replace function mail_finish(site text, finished jsonb)
returns table (
  raw_id text, message_id text, mailbox_id text, thread_id text, received_at timestamptz, subject text, from_address text,
  recipients jsonb, header_id text, in_reply_to text, reference_ids text[])
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  wanted text[];
  kept text[];
begin
  wanted := array(select f.raw_id from jsonb_to_recordset(finished) f (raw_id text));
  perform pg_advisory_xact_lock(hashtext('mail_thread'), hashtext(locked.mailbox_id))
  from (
    select distinct m.mailbox_id from mail_message m
    where m.site_id = site and m.raw_id = any (wanted)
    order by m.mailbox_id) locked;
  with done as (
    update mail_raw r set parse_status = f.status, bounce = f.bounce, parse_version = coalesce(f.parse_version, 0)
    from jsonb_to_recordset(finished) f (raw_id text, status text, bounce jsonb, parse_version integer)
    where r.site_id = site and r.raw_id = f.raw_id and r.parse_status = 'pending'
    returning r.raw_id
  ), content as (
    insert into mail_content (site_id, raw_id, text, html, truncated, attachments)
    select site, f.raw_id, f.text, f.html, f.truncated, f.attachments
    from done join jsonb_to_recordset(finished) f (
      raw_id text, text text, html text, truncated boolean, attachments jsonb) on f.raw_id = done.raw_id
    returning raw_id
  )
  select array_agg(c.raw_id) into kept from content c;
  return query
    select m.raw_id, m.message_id, m.mailbox_id, m.thread_id, m.received_at, m.subject, m.from_address, m.recipients,
           m.header_id, m.in_reply_to, m.reference_ids
    from mail_message m
    where m.site_id = site and m.raw_id = any (kept)
    order by m.received_at, m.message_id
    for no key update;
end $$;

-- Replaces what was made of a message: { raw_id, made_by, parse_version, status, bounce, text, html, truncated, attachments,
-- snippet, has_attachments, subject, from_address, recipients, header_id, in_reply_to, reference_ids }, where `made_by` is the
-- version that it replaces. Folder, marks, times and conversations stay, and watchers hear nothing. Returns the
-- messages that show it; nothing when it was removed or replaced since. Messages are locked first, as who purges them does.
create function mail_remake(site text, remade jsonb, at timestamptz)
returns table (message_id text, mailbox_id text, received_at timestamptz)
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  made record;
begin
  select * into made from jsonb_to_record(remade) f (
    raw_id text, made_by integer, parse_version integer, status text, bounce jsonb, text text, html text, truncated boolean,
    attachments jsonb, snippet text, has_attachments boolean, subject text, from_address text, recipients jsonb, header_id text,
    in_reply_to text, reference_ids text[]);
  perform from mail_message m
  where m.site_id = site and m.raw_id = made.raw_id
  order by m.message_id for no key update;
  update mail_raw r
  set parse_status = made.status, bounce = made.bounce, parse_version = made.parse_version, reparsed_at = at, reparse_failed = false
  where r.site_id = site and r.raw_id = made.raw_id and r.parse_version = made.made_by and r.parse_status <> 'pending';
  if not found then return; end if;
  insert into mail_content as c (site_id, raw_id, text, html, truncated, attachments)
  values (site, made.raw_id, made.text, made.html, made.truncated, made.attachments)
  on conflict (site_id, raw_id) do update
  set text = excluded.text, html = excluded.html, truncated = excluded.truncated, attachments = excluded.attachments
  where (c.text, c.html, c.truncated, c.attachments)
    is distinct from (excluded.text, excluded.html, excluded.truncated, excluded.attachments);
  update mail_message m
  set subject = made.subject, from_address = made.from_address, recipients = made.recipients, header_id = made.header_id,
      in_reply_to = made.in_reply_to, reference_ids = made.reference_ids, snippet = made.snippet,
      has_attachments = made.has_attachments
  where m.site_id = site and m.raw_id = made.raw_id
    and (m.subject, m.from_address, m.recipients, m.header_id, m.in_reply_to, m.reference_ids, m.snippet, m.has_attachments)
      is distinct from (made.subject, made.from_address, made.recipients, made.header_id, made.in_reply_to, made.reference_ids,
                        made.snippet, made.has_attachments);
  return query
    select m.message_id, m.mailbox_id, m.received_at from mail_message m
    where m.site_id = site and m.raw_id = made.raw_id;
end $$;
