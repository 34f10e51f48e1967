-- Since when somebody parses the site's messages: a job that is queued or runs, and looks once more, under the lock of this row,
-- before it sets this to null. Null when a message that arrives has to queue one.
alter table mail_usage add column parsing_since timestamptz;

-- All rows of new messages: what arrived is [{ raw_id, … }], and goes into mailboxes as [{ message_id, mailbox_id, raw_id, … }].
-- Counts them, remembers their deliveries until `expires`, and tells those who watch the mailboxes. The caller holds the
-- mailboxes and the site's usage. Each message is a conversation of its own until the parser knows better.
create function mail_insert(site text, arrivals jsonb, messages jsonb, expires timestamptz) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  insert into mail_raw (site_id, raw_id, size_bytes, sha256, envelope_from, client, trace_header, authentication, received_at)
  select site, a.raw_id, a.size_bytes, decode(a.sha256, 'hex'), a.envelope_from, a.client, a.trace_header, a.authentication,
         a.received_at
  from jsonb_to_recordset(arrivals) a (
    raw_id text, size_bytes bigint, sha256 text, envelope_from text, client jsonb, trace_header text, authentication jsonb,
    received_at timestamptz);

  with filed as (
    insert into mail_message (
      site_id, message_id, mailbox_id, raw_id, size_bytes, recipient, received_at, thread_id, subject, from_address,
      recipients, header_id, in_reply_to, reference_ids)
    select site, m.message_id, m.mailbox_id, m.raw_id, m.size_bytes, m.recipient, m.received_at, m.message_id, m.subject,
           m.from_address, m.recipients, m.header_id, m.in_reply_to, m.reference_ids
    from jsonb_to_recordset(messages) m (
      message_id text, mailbox_id text, raw_id text, size_bytes bigint, recipient text, received_at timestamptz, subject text,
      from_address text, recipients jsonb, header_id text, in_reply_to text, reference_ids text[])
    returning mailbox_id, size_bytes
  ), growth as (
    select f.mailbox_id, sum(f.size_bytes) as bytes, count(*) as messages from filed f group by f.mailbox_id
  ), counted as (
    update mailbox b set used_bytes = b.used_bytes + g.bytes, used_messages = b.used_messages + g.messages
    from growth g
    where b.site_id = site and b.mailbox_id = g.mailbox_id
  )
  update mail_usage u set
    used_bytes = u.used_bytes + (select sum(g.bytes) from growth g),
    used_messages = u.used_messages + (select sum(g.messages) from growth g)
  where u.site_id = site;

  insert into mail_delivery (site_id, mailbox_id, delivery_hash, message_id, expires_at)
  select site, m.mailbox_id, decode(m.hash, 'hex'), m.message_id, expires
  from jsonb_to_recordset(messages) m (message_id text, mailbox_id text, hash text)
  on conflict (site_id, mailbox_id, delivery_hash) do update
  set message_id = excluded.message_id, expires_at = excluded.expires_at;

  perform pg_notify('croft_mail', json_build_object('siteId', site, 'mailboxId', changed.mailbox_id)::text)
  from (select distinct m.mailbox_id from jsonb_to_recordset(messages) m (mailbox_id text)) changed;
end $$;

-- Takes messages of the plain kind in one round trip and one commit: all of them new, with room in every mailbox, none of
-- which forwards, and parsed by a job that was queued after `overdue`. False when any is of another kind: then nothing is
-- done. Locks are taken in the order in which everybody takes them.
create function mail_arrive(
  site text, arrivals jsonb, messages jsonb, at timestamptz, expires timestamptz, overdue timestamptz, default_limits bigint[]
) returns boolean
language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  scope text;
  total mail_usage%rowtype;
  limits bigint[];
  is_plain boolean;
begin
  scope := set_config('app.site_id', site, true);
  perform from mailbox b
  where b.site_id = site and b.mailbox_id = any (
    array(select m.mailbox_id from jsonb_to_recordset(messages) m (mailbox_id text)))
  order by b.mailbox_id for no key update;
  select * into total from mail_usage u where u.site_id = site for no key update;
  -- A time to come is one of a clock that was wrong.
  if total.parsing_since between overdue and at + (at - overdue) is not true then return false; end if;

  select array[
    coalesce((s.deployment_settings #>> '{limits,mailBytes}')::bigint, default_limits[1]),
    coalesce((s.deployment_settings #>> '{limits,mailMessages}')::bigint, default_limits[2])]
  into limits from site s where s.site_id = site;

  select bool_and(
      b.status = 'ACTIVE'
      and b.used_bytes + g.bytes <= coalesce(b.quota_bytes, b.used_bytes + g.bytes)
      and b.used_messages + g.messages <= coalesce(b.quota_messages, b.used_messages + g.messages)
      and not exists (
        select from mail_forwarding f where f.site_id = site and f.mailbox_id = g.mailbox_id and f.enabled))
    and total.used_bytes + sum(g.bytes) <= limits[1]
    and total.used_messages + sum(g.messages) <= limits[2]
  into is_plain
  from (
    select m.mailbox_id, sum(m.size_bytes) as bytes, count(*) as messages
    from jsonb_to_recordset(messages) m (mailbox_id text, size_bytes bigint)
    group by m.mailbox_id) g
  left join lateral (
    select * from mailbox held where held.site_id = site and held.mailbox_id = g.mailbox_id) b on true;
  if is_plain is not true then return false; end if;

  -- Time is not asked for inside: the index of what expires would give all that the site remembers.
  perform from jsonb_to_recordset(messages) m (mailbox_id text, hash text)
  cross join lateral (
    select d.expires_at from mail_delivery d
    where d.site_id = site and d.mailbox_id = m.mailbox_id and d.delivery_hash = decode(m.hash, 'hex')
    limit 1) known
  where known.expires_at > at;
  if found then return false; end if;

  perform mail_insert(site, arrivals, messages, expires);
  delete from mail_delivery d where d.site_id = site and d.ctid = any (array(
    select e.ctid from mail_delivery e
    where e.site_id = site and e.expires_at < at
    order by e.expires_at limit 20 for update skip locked));
  return true;
end $$;
