-- Who deployed what, and what the site ran when.

alter table deployment drop constraint deployment_status_check;
-- `removed`: its files are no longer kept; the row says that it was there.
alter table deployment add constraint deployment_status_check
  check (status in ('uploading', 'ready', 'failed', 'removed'));
alter table deployment
  -- { type, name }; null for what was deployed before this was recorded.
  add column deployed_by jsonb,
  -- { commit, branch, dirty } of the repository that the files came from; null when it is not known.
  add column git jsonb,
  -- Of `files`, which `removed` deployments no longer have.
  add column file_count integer not null default 0,
  add column size_bytes bigint  not null default 0;

-- One row each time that a deployment becomes the site's current one.
create table deployment_activation (
  site_id              text        not null references site on delete cascade,
  -- Counts up within the site: the highest is of the current deployment.
  activation_number    integer     not null,
  -- May be gone: the log is kept longer than deployments are.
  deployment_id        text        not null,
  -- What was current before.
  replaced_id          text,
  reason               text        not null check (reason in ('deploy', 'rollback', 'automaticRollback')),
  activated_by         jsonb,
  activated_at         timestamptz not null,
  -- Files, against what was current before; null when that is not known.
  files_added          integer,
  files_changed        integer,
  files_removed        integer,
  primary key (site_id, activation_number)
);

create index deployment_activation_by_deployment
  on deployment_activation (site_id, deployment_id, activation_number desc);
alter table deployment_activation enable row level security;
alter table deployment_activation force row level security;
create policy site_isolation on deployment_activation
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

-- What is there already. The owner sees rows of every site for these statements.
alter table site no force row level security;
alter table deployment no force row level security;
alter table deployment_activation no force row level security;
update deployment set
  file_count = jsonb_array_length(files),
  size_bytes = coalesce(
    (select sum((file ->> 'sizeBytes')::bigint) from jsonb_array_elements(files) as file), 0);
insert into deployment_activation
  (site_id, activation_number, deployment_id, replaced_id, reason, activated_at)
select d.site_id,
       row_number() over activations,
       d.deployment_id,
       lag(d.deployment_id) over activations,
       'deploy',
       d.activated_at
from deployment d join site s on s.site_id = d.site_id
where d.activated_at is not null
window activations as (
  partition by d.site_id
  order by d.deployment_id is not distinct from s.current_deployment_id, d.activated_at, d.deployment_id
);
alter table site force row level security;
alter table deployment force row level security;
alter table deployment_activation force row level security;
