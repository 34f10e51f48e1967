-- What people call themselves, as they enter it on their account's page; the claim `name`.
alter table pool_user add column name text check (char_length(name) between 1 and 100);
