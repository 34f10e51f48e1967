-- JSON Schemas that payloads and results of an operation are checked against: 2020-12, as the site wrote them; null for none.
alter table data_operation
  add column input jsonb,
  add column output jsonb;
