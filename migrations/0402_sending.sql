-- Sending. What a mailbox sends is a message of it in the folder SENT, with the bytes that go out as its raw message.

-- One recipient of a sent message, and what became of it. Goes with the raw message, which stays as long as a recipient of
-- it is queued, even when its message was purged meanwhile.
create table mail_recipient (
  site_id       text        not null,
  -- The message in SENT, which may be gone.
  message_id    text        not null,
  recipient     text        not null,
  mailbox_id    text        not null,
  raw_id        text        not null,
  -- The envelope sender: where a bounce comes to.
  envelope_from text        not null,
  -- Message-ID without its brackets, as a bounce names it.
  header_id     text        not null,
  -- `captured`: kept on this machine, for want of a gateway. `bounced`: the gateway took it, and it came back.
  status        text        not null default 'queued'
    check (status in ('queued', 'sent', 'captured', 'failed', 'bounced', 'suppressed')),
  attempts      integer     not null default 0,
  -- What the gateway said last, or the bounce.
  reply         text,
  updated_at    timestamptz not null,
  primary key (site_id, message_id, recipient),
  foreign key (site_id, raw_id) references mail_raw on delete cascade
);

create index mail_recipient_queued on mail_recipient (site_id, raw_id) where status = 'queued';
create index mail_recipient_by_raw on mail_recipient (site_id, raw_id);
create index mail_recipient_by_header on mail_recipient (site_id, header_id);
alter table mail_recipient enable row level security;
alter table mail_recipient force row level security;
create policy site_isolation on mail_recipient
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- A file that is uploaded before the message that it belongs to is sent. Its bytes lie beside those of messages.
create table mail_staged_attachment (
  site_id        text        not null,
  attachment_ref text        not null,
  mailbox_id     text        not null,
  filename       text        not null,
  content_type   text        not null,
  size_bytes     bigint      not null,
  expires_at     timestamptz not null,
  primary key (site_id, attachment_ref)
);

create index mail_staged_attachment_by_expiry on mail_staged_attachment (site_id, expires_at);
alter table mail_staged_attachment enable row level security;
alter table mail_staged_attachment force row level security;
create policy site_isolation on mail_staged_attachment
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- Addresses that a site sends nothing to any more, because mail to them came back.
create table mail_suppression (
  site_id    text        not null references site on delete cascade,
  -- As an envelope carries it, in lower case.
  address    text        not null,
  reason     text        not null check (reason in ('BOUNCE')),
  detail     text        not null,
  created_at timestamptz not null,
  primary key (site_id, address)
);

alter table mail_suppression enable row level security;
alter table mail_suppression force row level security;
create policy site_isolation on mail_suppression
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
