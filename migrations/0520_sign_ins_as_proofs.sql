-- When a sign-in over Cognito's API was used as the proof of a change of its account: it is good for one.
alter table refresh_family add column proof_used_at timestamptz;
-- The name that was given at sign-up.
alter table pending_sign_up add column name text check (char_length(name) between 1 and 100);
