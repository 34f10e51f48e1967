-- Challenges of passkeys that have come back, until they would have expired anyway: each may come back once.
create table used_passkey_challenge (
  site_id        text        not null references site on delete cascade,
  challenge_hash bytea       not null,
  expires_at     timestamptz not null,
  primary key (site_id, challenge_hash)
);

create index used_passkey_challenge_by_expiry on used_passkey_challenge (site_id, expires_at);

alter table used_passkey_challenge enable row level security;
alter table used_passkey_challenge force row level security;
create policy site_isolation on used_passkey_challenge
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
