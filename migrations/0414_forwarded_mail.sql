-- Mail that goes on. It waits for the gateway in the queue of what mailboxes send, recipient by recipient.

alter table mail_recipient
  -- `forwarded`: of a message that a mailbox received, to one of its targets; `envelope_from` is then as it was received.
  -- `returned`: of a bounce that came to a return path of ours (SRS), to whom it belongs; it is in no mailbox.
  add column kind text not null default 'sent' check (kind in ('sent', 'forwarded', 'returned')),
  -- Whether the mailbox lets go of its message once every target has it.
  add column lets_go boolean not null default false;
