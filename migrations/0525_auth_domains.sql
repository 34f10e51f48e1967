-- Where visitors sign in, if that is not on the site's own domain; and the names under which programs reached that issuer before, whose
-- tokens go on.
alter table site
  add column auth_domain text unique
    check (auth_domain = lower(auth_domain) and auth_domain <> domain and auth_domain <> admin_domain),
  add column former_auth_domains text[] not null default '{}';
