-- What a job may delete, as '{section} {name}': what whoever sent it was shown. What came since stays.
alter table iac_job add column agreed text[] not null default '{}';
-- Written by versions before this one only; theirs delete nothing unasked either.
alter table iac_job alter column confirmed set default false;
