-- Where the administration of a site is, if it is not on the site's own domain.
alter table site
  add column admin_domain text unique check (admin_domain = lower(admin_domain) and admin_domain <> domain);

-- Every name under which something of a site is reached: no two sites have the same one, whatever each uses it for.
create table site_host (
  site_id text not null references site on delete cascade,
  host    text not null unique,
  primary key (site_id, host)
);

-- The owner of the tables sees all sites for this one statement.
alter table site no force row level security;
insert into site_host (host, site_id) select domain, site_id from site;
alter table site force row level security;

alter table site_host enable row level security;
alter table site_host force row level security;
create policy site_isolation on site_host
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
create policy site_directory on site_host for select
  using ((select current_setting('app.scope', true)) = 'directory');
