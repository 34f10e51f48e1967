-- Messages. No foreign key leads to the site or the mailbox, so that deleting one takes one statement: a job removes their
-- messages in batches. Whoever adds a message holds its mailbox's row, so none is added to a mailbox that is gone.

-- A message as it came, once for all mailboxes of the site that it came for. Its bytes are in the object store, exactly as
-- they were received; a row is written when they are safe there, and goes before they do.
create table mail_raw (
  site_id        text        not null,
  raw_id         text        not null,
  size_bytes     bigint      not null,
  sha256         bytea       not null,
  -- Envelope sender (empty: the null sender), and who spoke to us how: { address, name, helo, tls, protocol }.
  envelope_from  text        not null,
  client         jsonb       not null,
  -- Received, Return-Path and Authentication-Results as they belong before the first line of the message.
  trace_header   text        not null,
  -- { spf, dkim, dmarc, arc, … } as they were found when the message was received.
  authentication jsonb       not null,
  -- `pending` until the parser is done; `failed` when it gave up: then headers were read without it.
  parse_status   text        not null default 'pending' check (parse_status in ('pending', 'parsed', 'failed')),
  parse_attempts integer     not null default 0,
  -- From a delivery status notification or another bounce, else null: what it says of which sent message.
  bounce         jsonb,
  received_at    timestamptz not null,
  primary key (site_id, raw_id)
);

create index mail_raw_pending on mail_raw (site_id, received_at, raw_id) where parse_status = 'pending';
alter table mail_raw enable row level security;
alter table mail_raw force row level security;
create policy site_isolation on mail_raw
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- What the parser made of it, as it is shown.
create table mail_content (
  site_id     text    not null,
  raw_id      text    not null,
  text        text    not null,
  -- Sanitised; images refer to parts by `cid:`. Null when the message has none.
  html        text,
  -- Whether text or html were cut at their bounds: the raw message has all of it.
  truncated   boolean not null default false,
  -- [{ attachmentId, filename, contentType, sizeBytes, contentId, inline }]: the bytes are in the object store.
  attachments jsonb   not null default '[]',
  primary key (site_id, raw_id),
  foreign key (site_id, raw_id) references mail_raw on delete cascade
);

alter table mail_content enable row level security;
alter table mail_content force row level security;
create policy site_isolation on mail_content
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- A message in a mailbox.
create table mail_message (
  site_id         text        not null,
  message_id      text        not null,
  mailbox_id      text        not null,
  raw_id          text        not null,
  size_bytes      bigint      not null,
  -- The address that it was sent to: the mailbox's own, an alias, or one with a plus part.
  recipient       text        not null,
  folder          text        not null default 'INBOX' check (folder in ('INBOX', 'SENT', 'ARCHIVE', 'TRASH')),
  -- Where it was before it went to the trash.
  origin_folder   text        check (origin_folder in ('INBOX', 'SENT', 'ARCHIVE')),
  deleted         boolean     not null default false,
  trashed_at      timestamptz,
  seen            boolean     not null default false,
  received_at     timestamptz not null,
  thread_id       text        not null,
  -- From the headers; in full in `mail_content` and the raw message.
  subject         text        not null default '',
  from_address    text        not null default '',
  -- { to: [], cc: [], replyTo: [] }: address lists as they are shown.
  recipients      jsonb       not null default '{}',
  -- The header of that name, without its brackets; null when there is none.
  header_id       text,
  in_reply_to     text,
  reference_ids   text[]      not null default '{}',
  snippet         text        not null default '',
  has_attachments boolean     not null default false,
  primary key (site_id, message_id),
  foreign key (site_id, raw_id) references mail_raw,
  check ((folder = 'TRASH') = (trashed_at is not null)),
  check (folder = 'TRASH' or not deleted)
);

-- A list of several mailboxes or folders is merged from one range of this for each.
create index mail_message_by_folder
  on mail_message (site_id, mailbox_id, folder, deleted, received_at desc, message_id desc);
create index mail_message_unseen
  on mail_message (site_id, mailbox_id, folder, deleted, received_at desc, message_id desc) where not seen;
create index mail_message_by_time on mail_message (site_id, received_at desc, message_id desc);
create index mail_message_by_thread on mail_message (site_id, mailbox_id, thread_id, received_at desc, message_id desc);
create index mail_message_by_raw on mail_message (site_id, raw_id);
create index mail_message_trashed on mail_message (site_id, mailbox_id, trashed_at) where trashed_at is not null;
alter table mail_message enable row level security;
alter table mail_message force row level security;
create policy site_isolation on mail_message
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- The words of messages. Seen only by way of a query in `app.mail_query`, which is part of the policy: the planner uses no
-- condition of a statement for an index before those of a policy, except where the operator is leakproof, and that of text
-- search is not. Rows of their own, because marking a message as seen would else write all its words to the index again.
create table mail_search (
  site_id     text        not null,
  message_id  text        not null,
  mailbox_id  text        not null,
  received_at timestamptz not null,
  -- Also has the ids of site and mailbox as words, so that one index serves a search in any of them.
  words       tsvector    not null,
  primary key (site_id, message_id),
  foreign key (site_id, message_id) references mail_message on delete cascade
);

create index mail_search_by_words on mail_search using gin (words);
alter table mail_search enable row level security;
alter table mail_search force row level security;
create policy site_isolation on mail_search
  using (site_id = (select current_setting('app.site_id', true))
    and words @@ (select current_setting('app.mail_query', true))::tsquery)
  with check (site_id = (select current_setting('app.site_id', true)));

-- Message ids that a conversation of a mailbox is known by, hashed.
create table mail_thread_reference (
  site_id        text  not null,
  mailbox_id     text  not null,
  reference_hash bytea not null,
  thread_id      text  not null,
  primary key (site_id, mailbox_id, reference_hash)
);

create index mail_thread_reference_by_thread on mail_thread_reference (site_id, mailbox_id, thread_id);

alter table mail_thread_reference enable row level security;
alter table mail_thread_reference force row level security;
create policy site_isolation on mail_thread_reference
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- What was accepted lately: the same bytes from the same sender to the same recipient within minutes are one message,
-- however often a mail server that lost our answer sends them.
create table mail_delivery (
  site_id       text        not null,
  mailbox_id    text        not null,
  -- SHA-256 over envelope sender, recipient and the message's own SHA-256.
  delivery_hash bytea       not null,
  message_id    text        not null,
  expires_at    timestamptz not null,
  primary key (site_id, mailbox_id, delivery_hash)
);

create index mail_delivery_by_expiry on mail_delivery (site_id, expires_at);
alter table mail_delivery enable row level security;
alter table mail_delivery force row level security;
create policy site_isolation on mail_delivery
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- Objects whose rows are gone and that are to be deleted: by the prefix of their keys.
create table mail_removed_object (
  site_id    text        not null,
  raw_id     text        not null,
  removed_at timestamptz not null default now(),
  primary key (site_id, raw_id)
);

alter table mail_removed_object enable row level security;
alter table mail_removed_object force row level security;
create policy site_isolation on mail_removed_object
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
