-- How the hosted pages of a site look: a color and a picture of its own.
create table site_branding (
  site_id      text        primary key references site on delete cascade,
  color        text        check (color ~ '^#[0-9a-f]{6}$'),
  logo         bytea       check (octet_length(logo) <= 32768),
  logo_type    text        check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
  -- Of the picture's bytes, for its address.
  logo_version text,
  updated_at   timestamptz not null default now(),
  check ((logo is null) = (logo_type is null) and (logo is null) = (logo_version is null))
);

alter table site_branding enable row level security;
alter table site_branding force row level security;
create policy site_isolation on site_branding
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
-- What a request knows of its site comes with its host.
create policy site_directory on site_branding for select
  using ((select current_setting('app.scope', true)) = 'directory');
