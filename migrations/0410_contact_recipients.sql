-- To whom a site's contact form sends.
create table contact_recipient (
  site_id    text        not null references site on delete cascade,
  -- In lower case, as it is compared.
  email      text        not null check (length(email) between 3 and 254),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (site_id, email)
);

alter table contact_recipient enable row level security;
alter table contact_recipient force row level security;
create policy site_isolation on contact_recipient
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
