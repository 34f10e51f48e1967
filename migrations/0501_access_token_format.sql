-- The shape of a client's access tokens: Cognito's, or that of RFC 9068 (`typ: at+jwt`, with `aud`).
alter table pool_client add column access_token_format text not null default 'cognito'
  constraint pool_client_access_token_format check (access_token_format in ('cognito', 'rfc9068'));
