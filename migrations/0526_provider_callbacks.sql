-- The name on which the provider knows our callback; null is the site's domain.
alter table identity_provider add column callback_host text;
