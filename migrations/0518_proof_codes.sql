-- Codes with which the owner of an account without password and passkey proves a change of it, one for each action and sign-in.
alter table user_code drop constraint user_code_purpose_check;
alter table user_code add constraint user_code_purpose_check check (purpose in ('reset', 'address', 'proof'));
