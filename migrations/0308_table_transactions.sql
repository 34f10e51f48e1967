-- Transactions that named a token: done once, however often they are sent within ten minutes.
create table table_transaction (
  site_id        text        not null references site on delete cascade,
  -- SHA-256 of the token.
  token_hash     bytea       not null,
  -- SHA-256 of the request, so that one token is not taken for another request.
  request_digest bytea       not null,
  expires_at     timestamptz not null,
  primary key (site_id, token_hash)
);

create index table_transaction_by_end on table_transaction (site_id, expires_at);
alter table table_transaction enable row level security;
alter table table_transaction force row level security;
create policy site_isolation on table_transaction
  using (site_id = (select current_setting('app.site_id', true)))
  with check (site_id = (select current_setting('app.site_id', true)));
