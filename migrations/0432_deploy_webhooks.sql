-- The secrets with which forges sign what they tell of an external repository: one a site.
create table deploy_webhook (
  site_id       text        not null references site on delete cascade,
  -- Sealed, because a signature is checked with the secret itself.
  sealed_secret bytea       not null,
  created_at    timestamptz not null,
  primary key (site_id)
);

-- What was delivered already. A second delivery of the same does nothing.
create table deploy_webhook_delivery (
  site_id     text        not null references site on delete cascade,
  -- SHA-256 of the name that the forge gives it.
  delivery    bytea       not null,
  received_at timestamptz not null,
  primary key (site_id, delivery)
);

create index deploy_webhook_delivery_by_time on deploy_webhook_delivery (site_id, received_at);

alter table deploy_webhook enable row level security;
alter table deploy_webhook force row level security;
create policy site_isolation on deploy_webhook
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));

alter table deploy_webhook_delivery enable row level security;
alter table deploy_webhook_delivery force row level security;
create policy site_isolation on deploy_webhook_delivery
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
