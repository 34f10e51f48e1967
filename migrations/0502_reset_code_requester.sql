-- Each browser or network that asks for a new password has a code of its own: others neither end nor burn it.
-- A code that came before belongs to nobody, and is asked for again.
alter table user_code
  add column requester text not null default '',
  -- Tries of requesters other than its own, where those are let in.
  add column other_tries int not null default 0,
  drop constraint user_code_pkey,
  add primary key (site_id, user_pool_id, sub, purpose, requester);
