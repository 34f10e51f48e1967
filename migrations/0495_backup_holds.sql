-- Backups that are being made. While one is, what processes delete or replace in the object store is kept for it first.
-- No tenant's row is here: keys of objects begin with their site, and only the backup reads them.
create table backup_hold (
  hold_id    text        primary key,
  started_at timestamptz not null default now(),
  -- Moved on while the backup lives. What a backup that died leaves is removed by the next.
  expires_at timestamptz not null
);

create table backup_kept_object (
  hold_id    text not null references backup_hold on delete cascade,
  object_key text collate "C" not null,
  primary key (hold_id, object_key)
);
