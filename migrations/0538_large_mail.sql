-- Messages that are parsed alone, the oldest first: large ones, and those that took too much beside others.
create index mail_raw_pending_large on mail_raw (site_id, received_at, raw_id)
  where parse_status = 'pending' and (size_bytes > 1048576 or parse_attempts > 0);
