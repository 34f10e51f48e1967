-- Who was given an upload URL by a preset: a user or a network; null for what the site's own admins, jobs and code reserve.
alter table bucket_reservation add column holder text;
create index bucket_reservation_by_holder on bucket_reservation (site_id, holder, bucket_id, object_key)
  include (size_bytes, expires_at) where holder is not null;
