-- Challenges of the Cognito API that have been answered, until they would have expired anyway: each may be answered once.
create table used_srp_challenge (
  site_id      text        not null references site on delete cascade,
  challenge_id bytea       not null,
  expires_at   timestamptz not null,
  primary key (site_id, challenge_id)
);

create index used_srp_challenge_by_expiry on used_srp_challenge (site_id, expires_at);

alter table used_srp_challenge enable row level security;
alter table used_srp_challenge force row level security;
create policy site_isolation on used_srp_challenge
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
