-- A job that mails a sign-up another code may run again: it finds by this that the code of its request is made.
alter table pending_sign_up add column code_request_id text;
