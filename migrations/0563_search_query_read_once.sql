-- The query of a search is read once a statement: outside of the subselect it was read again for every row.
alter policy site_isolation on mail_search
  using (site_id = (select current_setting('app.site_id', true))
    and words @@ (select current_setting('app.mail_query', true)::tsquery));
