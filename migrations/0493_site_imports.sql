-- Sites that are being imported. Until the transaction that makes one visible there is this row, and stored objects under its
-- id; that transaction takes the row away. Whoever finds it without a sign of life removes the objects.
create table site_import (
  site_id    text        primary key,
  domain     text        not null,
  started_at timestamptz not null,
  -- Renewed by the process that imports, by the clock of the database.
  alive_at   timestamptz not null
);

alter table site_import enable row level security;
alter table site_import force row level security;
create policy site_isolation on site_import
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
