-- The audit trail of one user, of one address, of one kind of event: newest first, like the whole.
create index security_event_by_sub on security_event (site_id, sub, at, event_id);
create index security_event_by_email on security_event (site_id, email, at, event_id);
create index security_event_by_event on security_event (site_id, event, at, event_id);
