-- Finds what is old enough to be forgotten.
create index outbound_message_by_time on outbound_message (site_id, created_at);
