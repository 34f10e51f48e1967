-- Keys of other installations, with which passwords were hashed of people who came with an imported site: a hash names its key
-- (`keyid`, as in the PHC string format). Who signs in is hashed anew with the key of this installation.
create table password_key (
  site_id text  not null references site on delete cascade,
  -- The beginning of the key's SHA-256.
  key_id  text  not null,
  -- Sealed with the site's key.
  sealed  bytea not null,
  primary key (site_id, key_id)
);

alter table password_key enable row level security;
alter table password_key force row level security;
create policy site_isolation on password_key
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
