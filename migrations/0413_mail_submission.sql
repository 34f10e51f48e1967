-- Passwords of mail programs. Each opens one mailbox for sending, and nothing else.
create table mail_submission_credential (
  site_id       text        not null references site on delete cascade,
  credential_id text        not null,
  mailbox_id    text        not null,
  -- What its owner calls it.
  name          text        not null,
  -- Id of a user of the admin pool, or `operator`: the password is good for as long as its maker may send from the mailbox.
  created_by    text        not null,
  -- SHA-256 of 256 random bits.
  secret_hash   bytea       not null,
  created_at    timestamptz not null,
  -- To the hour.
  last_used_at  timestamptz,
  primary key (site_id, credential_id),
  foreign key (site_id, mailbox_id) references mailbox on delete cascade
);

create index mail_submission_credential_by_mailbox on mail_submission_credential (site_id, mailbox_id, created_at, credential_id);
create unique index mail_submission_credential_by_secret on mail_submission_credential (site_id, secret_hash);
alter table mail_submission_credential enable row level security;
alter table mail_submission_credential force row level security;
create policy site_isolation on mail_submission_credential
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
