-- The repositories of sites with the source mode SITE_GIT. The objects of a repository are packs in the object store; what its
-- refs point to is here, and changes with the deployment that follows from it, or not at all.
create table site_repository (
  site_id text   not null references site on delete cascade,
  -- Counts changes of refs and packs.
  version bigint not null,
  primary key (site_id)
);

create table site_repository_ref (
  site_id text not null references site_repository on delete cascade,
  -- In full: refs/heads/main.
  name    text not null,
  oid     text not null,
  primary key (site_id, name)
);

create table site_repository_pack (
  site_id    text        not null references site_repository on delete cascade,
  -- As git names it: pack-….
  pack       text        not null,
  -- Its object in the store; each upload has a name of its own.
  object_id  text        not null,
  size_bytes bigint      not null,
  created_at timestamptz not null,
  primary key (site_id, pack)
);

alter table site_repository enable row level security;
alter table site_repository force row level security;
create policy site_isolation on site_repository
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

alter table site_repository_ref enable row level security;
alter table site_repository_ref force row level security;
create policy site_isolation on site_repository_ref
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

alter table site_repository_pack enable row level security;
alter table site_repository_pack force row level security;
create policy site_isolation on site_repository_pack
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
