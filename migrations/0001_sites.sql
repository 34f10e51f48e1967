-- Facts about this installation as a whole; no tenant's row is here.
create table instance (
  name       text        primary key,
  value      jsonb       not null,
  created_at timestamptz not null default now()
);

create table site (
  site_id               text        primary key,
  domain                text        not null unique check (domain = lower(domain)),
  region                text        not null,
  source_mode           text        not null check (source_mode in ('EXTERNAL_REPO', 'SITE_GIT')),
  repo                  jsonb,
  repo_binding          jsonb,
  deployment_settings   jsonb       not null,
  current_deployment_id text,
  created_at            timestamptz not null default now(),
  updated_at            timestamptz not null default now(),
  check ((source_mode = 'EXTERNAL_REPO') = (repo is not null)),
  check ((source_mode = 'SITE_GIT') = (repo_binding is not null))
);

alter table site enable row level security;
alter table site force row level security;
create policy site_isolation on site
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
-- Hosts must be found before a site is known; only `Database.withDirectory` asks for this scope.
create policy site_directory on site for select
  using ((select current_setting('app.scope', true)) = 'directory');

-- Each site's own key, wrapped by the instance's master key; it seals the site's secrets.
create table site_key (
  site_id     text        primary key references site on delete cascade,
  wrapped_key bytea       not null,
  created_at  timestamptz not null default now()
);

alter table site_key enable row level security;
alter table site_key force row level security;
create policy site_isolation on site_key
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

create table deployment (
  site_id            text        not null references site on delete cascade,
  deployment_id      text        not null,
  status             text        not null check (status in ('uploading', 'ready', 'failed')),
  source             jsonb       not null,
  artifact_directory text        not null,
  -- [{ path, sha256, sizeBytes }]; the bytes are in the object store under their hash.
  files              jsonb       not null,
  error              text,
  created_at         timestamptz not null default now(),
  activated_at       timestamptz,
  primary key (site_id, deployment_id)
);

alter table deployment enable row level security;
alter table deployment force row level security;
create policy site_isolation on deployment
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
