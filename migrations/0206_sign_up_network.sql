-- Where a sign-up was asked for: tells the owner's sign-up from a stranger's for the same address, when nothing else does.
alter table pending_sign_up add column network text not null default '';
