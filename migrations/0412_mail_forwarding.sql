-- Where the mail of a mailbox is sent on to. A mailbox without a row forwards nothing.
create table mail_forwarding (
  site_id    text        not null references site on delete cascade,
  mailbox_id text        not null,
  enabled    boolean     not null,
  -- False: once every target has accepted a message, the mailbox does not keep it.
  keep_copy  boolean     not null,
  updated_at timestamptz not null,
  primary key (site_id, mailbox_id),
  foreign key (site_id, mailbox_id) references mailbox on delete cascade
);

alter table mail_forwarding enable row level security;
alter table mail_forwarding force row level security;
create policy site_isolation on mail_forwarding
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- Addresses anywhere. A target gets mail once whoever reads it has agreed, with the token that was mailed there.
create table mail_forwarding_target (
  site_id              text        not null references site on delete cascade,
  mailbox_id           text        not null,
  -- As an envelope carries it, in lower case.
  target               text        not null check (target = lower(target collate "C") and length(target) between 3 and 254),
  created_at           timestamptz not null,
  verified_at          timestamptz,
  -- SHA-256. Null while no mail has been sent to the target. It stays for a verified target until it expires.
  token_hash           bytea,
  token_expires_at     timestamptz,
  verification_sent_at timestamptz,
  primary key (site_id, mailbox_id, target),
  foreign key (site_id, mailbox_id) references mailbox on delete cascade,
  check ((token_hash is null) = (token_expires_at is null))
);

create unique index mail_forwarding_target_by_token on mail_forwarding_target (site_id, token_hash) where token_hash is not null;
alter table mail_forwarding_target enable row level security;
alter table mail_forwarding_target force row level security;
create policy site_isolation on mail_forwarding_target
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
