-- Whether the function answers HTTP itself: the request reaches it as it came, and its response goes out as it is.
alter table data_operation add column http boolean not null default false;
