-- The language of the pages on which somebody last signed in: that of the mail about the account.
alter table pool_user add column language text check (language ~ '^[a-z]{2,3}$');
