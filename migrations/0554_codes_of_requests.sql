-- A job that mails a code may run again: it finds by this that the code of its request is made.
alter table user_code add column request_id text;
