-- A definition may give a thing another name: what hangs on the name follows in the same statement.
alter table data_job
  drop constraint data_job_site_id_operation_fkey,
  add constraint data_job_site_id_operation_fkey
    foreign key (site_id, operation) references data_operation (site_id, operation) on update cascade;
alter table data_job_due
  drop constraint data_job_due_site_id_job_id_fkey,
  add constraint data_job_due_site_id_job_id_fkey
    foreign key (site_id, job_id) references data_job (site_id, job_id) on update cascade on delete cascade;
alter table data_job_run
  drop constraint data_job_run_site_id_job_id_fkey,
  add constraint data_job_run_site_id_job_id_fkey
    foreign key (site_id, job_id) references data_job (site_id, job_id) on update cascade on delete cascade;
alter table data_group_member
  drop constraint data_group_member_site_id_group_name_fkey,
  add constraint data_group_member_site_id_group_name_fkey
    foreign key (site_id, group_name) references data_group on update cascade on delete cascade;

alter table iac_change
  drop constraint iac_change_action_check,
  add constraint iac_change_action_check check (action in ('create', 'update', 'rename', 'delete', 'none')),
  -- The name before, as the definition says it; null where it says none.
  add column renamed_from text;
