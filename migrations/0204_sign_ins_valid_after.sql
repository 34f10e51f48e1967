-- Sign-ins whose proof is older are refused. Unlike `tokens_valid_after` it also moves when one sign-in goes on, so that
-- an old password that is being checked while it is changed gets nobody in.
alter table pool_user add column sign_ins_valid_after timestamptz not null default '-infinity';

create index authorization_code_by_user on authorization_code (site_id, user_pool_id, sub);
