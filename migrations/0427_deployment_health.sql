-- How the calls that ran a deployment's code fared in the minute after it became current, and what followed from it.

alter table deployment_activation
  add column calls           integer not null default 0,
  add column failures        integer not null default 0,
  -- `due`: it is to be taken back. `failed`: it could not be, and why.
  add column rollback_status text check (rollback_status in ('due', 'done', 'failed')),
  add column rollback_error  text;
