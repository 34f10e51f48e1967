-- Mailboxes and aliases. Addresses are kept by their local part: they follow the site when its domain changes.

-- Every address of a site that takes mail; the one place that makes an address either a mailbox or an alias.
create table mail_address (
  site_id    text not null references site on delete cascade,
  -- Before the `@`, in lower case and NFC, without a plus part.
  local_part text not null check (local_part = lower(local_part collate "C")),
  kind       text not null check (kind in ('mailbox', 'alias')),
  primary key (site_id, local_part),
  unique (site_id, local_part, kind)
);

alter table mail_address enable row level security;
alter table mail_address force row level security;
create policy site_isolation on mail_address
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table mailbox (
  site_id              text        not null references site on delete cascade,
  mailbox_id           text        not null,
  local_part           text        not null,
  kind                 text        not null default 'mailbox' check (kind = 'mailbox'),
  status               text        not null default 'ACTIVE' check (status in ('ACTIVE', 'DISABLED')),
  trash_auto_purge     boolean     not null default false,
  trash_retention_days integer     not null default 30 check (trash_retention_days between 1 and 365),
  -- What its messages hold together, whatever their folder; null quotas are the installation's.
  used_bytes           bigint      not null default 0,
  used_messages        bigint      not null default 0,
  quota_bytes          bigint      check (quota_bytes >= 0),
  quota_messages       bigint      check (quota_messages >= 0),
  created_at           timestamptz not null default now(),
  updated_at           timestamptz not null default now(),
  disabled_at          timestamptz,
  primary key (site_id, mailbox_id),
  unique (site_id, local_part),
  foreign key (site_id, local_part, kind) references mail_address (site_id, local_part, kind),
  check ((status = 'DISABLED') = (disabled_at is not null))
);

alter table mailbox enable row level security;
alter table mailbox force row level security;
create policy site_isolation on mailbox
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- Who owns a mailbox: users of the admin pool. The owners of a disabled mailbox stay, so that it can be restored to them.
create table mailbox_owner (
  site_id      text        not null references site on delete cascade,
  mailbox_id   text        not null,
  user_pool_id text        not null,
  sub          text        not null,
  created_at   timestamptz not null default now(),
  primary key (site_id, mailbox_id, sub),
  foreign key (site_id, mailbox_id) references mailbox on delete cascade,
  foreign key (site_id, user_pool_id, sub) references pool_user on delete cascade
);

create index mailbox_owner_by_user on mailbox_owner (site_id, sub, mailbox_id);
alter table mailbox_owner enable row level security;
alter table mailbox_owner force row level security;
create policy site_isolation on mailbox_owner
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table mail_alias (
  site_id    text        not null references site on delete cascade,
  local_part text        not null,
  kind       text        not null default 'alias' check (kind = 'alias'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (site_id, local_part),
  foreign key (site_id, local_part, kind) references mail_address (site_id, local_part, kind)
);

alter table mail_alias enable row level security;
alter table mail_alias force row level security;
create policy site_isolation on mail_alias
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- An alias leads to mailboxes only, so it cannot loop.
create table mail_alias_target (
  site_id    text not null references site on delete cascade,
  local_part text not null,
  mailbox_id text not null,
  primary key (site_id, local_part, mailbox_id),
  foreign key (site_id, local_part) references mail_alias on delete cascade,
  foreign key (site_id, mailbox_id) references mailbox on delete cascade
);

create index mail_alias_target_by_mailbox on mail_alias_target (site_id, mailbox_id);
alter table mail_alias_target enable row level security;
alter table mail_alias_target force row level security;
create policy site_isolation on mail_alias_target
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- What all mailboxes of a site hold together. One row a site, made with the first mailbox.
create table mail_usage (
  site_id       text   primary key references site on delete cascade,
  used_bytes    bigint not null default 0,
  used_messages bigint not null default 0
);

alter table mail_usage enable row level security;
alter table mail_usage force row level security;
create policy site_isolation on mail_usage
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
