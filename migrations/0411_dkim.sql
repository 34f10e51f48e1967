-- The keys with which a site signs its mail (RFC 6376). `croft{number}` is the selector. A key is pending until it is
-- activated, active until the next one is, and retiring for some days in which what it signed can still be verified.
create table dkim_key (
  site_id        text        not null references site on delete cascade,
  number         integer     not null check (number > 0),
  -- SubjectPublicKeyInfo, DER, in base64: `p=` of the record.
  public_key     text        not null,
  -- PKCS #8, sealed with the site's key. Gone once another key signs.
  sealed_private bytea,
  created_at     timestamptz not null,
  activated_at   timestamptz,
  superseded_at     timestamptz,
  primary key (site_id, number),
  check (superseded_at is null or activated_at is not null),
  check ((sealed_private is null) = (superseded_at is not null))
);

create unique index dkim_key_pending on dkim_key (site_id) where activated_at is null;
create unique index dkim_key_active on dkim_key (site_id) where activated_at is not null and superseded_at is null;
alter table dkim_key enable row level security;
alter table dkim_key force row level security;
create policy site_isolation on dkim_key
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
