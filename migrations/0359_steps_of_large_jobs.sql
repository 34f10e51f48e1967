-- What every step of a large definition asks for, without reading the code of all functions, or the steps that are done.
alter table data_resource
  add column code_bytes integer generated always as (coalesce(octet_length(config ->> 'code'), 0)) stored,
  -- [{ resourceId, access }] of a function.
  add column granted jsonb generated always as (config -> 'resources') stored;

create index iac_change_pending on iac_change (site_id, job_number, position) where status = 'pending';
