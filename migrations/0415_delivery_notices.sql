-- Notices to who sent a message, in the mailbox that sent it.

-- What its mailbox was told of a recipient of a sent message: that the message is late, or that it failed.
alter table mail_recipient add column noticed text check (noticed in ('delayed', 'failed'));
