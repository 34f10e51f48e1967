-- Keeps what was read of messages, or that they were given up: [{ raw_id, status, bounce, text, html, truncated, attachments }].
-- Gives the messages that show them, the oldest first, held until the end so that none is removed meanwhile; nothing for what
-- somebody else has finished or removed. Locks the conversations of their mailboxes in the order in which everybody does.
create function mail_finish(site text, finished jsonb)
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
    update mail_raw r set parse_status = f.status, bounce = f.bounce
    from jsonb_to_recordset(finished) f (raw_id text, status text, bounce jsonb)
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

-- Shows messages: [{ message_id, mailbox_id, thread_id, snippet, has_attachments }]. Tells those who watch the mailboxes.
create function mail_show(site text, shown jsonb) returns void
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  update mail_message m
  set thread_id = s.thread_id, snippet = s.snippet, has_attachments = s.has_attachments
  from jsonb_to_recordset(shown) s (message_id text, thread_id text, snippet text, has_attachments boolean)
  where m.site_id = site and m.message_id = s.message_id;

  perform pg_notify('croft_mail', json_build_object('siteId', site, 'mailboxId', changed.mailbox_id)::text)
  from (select distinct s.mailbox_id from jsonb_to_recordset(shown) s (mailbox_id text)) changed;
end $$;
