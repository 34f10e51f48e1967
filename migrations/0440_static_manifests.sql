-- How the public files of a deployment are served: written when the deployment becomes current, gone with it.
create table static_manifest (
  site_id       text  not null,
  deployment_id text  not null,
  manifest      jsonb not null,
  primary key (site_id, deployment_id),
  foreign key (site_id, deployment_id) references deployment on delete cascade
);

alter table static_manifest enable row level security;
alter table static_manifest force row level security;
create policy site_isolation on static_manifest
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
