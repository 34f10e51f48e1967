-- What refers to a thing by its name is changed by whoever renames it, one table after the other: a database that is distributed by
-- site knows no reference that follows by itself.
alter table data_job
  drop constraint data_job_site_id_operation_fkey,
  add constraint data_job_site_id_operation_fkey
    foreign key (site_id, operation) references data_operation (site_id, operation);
alter table data_job_due
  drop constraint data_job_due_site_id_job_id_fkey,
  add constraint data_job_due_site_id_job_id_fkey
    foreign key (site_id, job_id) references data_job (site_id, job_id) on delete cascade;
alter table data_job_run
  drop constraint data_job_run_site_id_job_id_fkey,
  add constraint data_job_run_site_id_job_id_fkey
    foreign key (site_id, job_id) references data_job (site_id, job_id) on delete cascade;
alter table data_group_member
  drop constraint data_group_member_site_id_group_name_fkey,
  add constraint data_group_member_site_id_group_name_fkey
    foreign key (site_id, group_name) references data_group on delete cascade;
