-- A visitor whom an admin has disabled: the account stays, and nobody signs in to it. Admins lose their role or their account instead.
alter table pool_user drop constraint pool_user_status_check;
alter table pool_user add constraint pool_user_status_check
  check (status in ('INVITED', 'ACTIVE') or (status = 'DISABLED' and role is null));
