-- The domain of an address is stored as DNS has it, in ASCII: `a@ü.test` and `a@xn--tda.test` are one address. Before, the domain
-- was stored as it was written.

-- RFC 3492, section 6.3.
create function pg_temp.punycode(label text) returns text language plpgsql immutable as $$
declare
  codes    integer[] := array(select ascii(letter) from unnest(string_to_array(label, null)) as letter);
  basic    text      := coalesce((select string_agg(chr(code), '' order by place)
                        from unnest(codes) with ordinality as each (code, place) where code < 128), '');
  written  text      := case when basic = '' then '' else basic || '-' end;
  done     integer   := length(basic);
  first    boolean   := true;
  n        integer   := 128;
  bias     integer   := 72;
  delta    bigint    := 0;
  next     integer;
  code     integer;
  q        bigint;
  k        integer;
  t        integer;
begin
  while done < cardinality(codes) loop
    select min(each) into next from unnest(codes) as each where each >= n;
    delta := delta + (next - n)::bigint * (done + 1);
    n := next;
    foreach code in array codes loop
      if code < n then delta := delta + 1; end if;
      continue when code <> n;
      q := delta;
      k := 36;
      loop
        t := least(greatest(k - bias, 1), 26);
        exit when q < t;
        written := written || chr(case when t + (q - t) % (36 - t) < 26 then 97 else 22 end
          + (t + (q - t) % (36 - t))::integer);
        q := (q - t) / (36 - t);
        k := k + 36;
      end loop;
      written := written || chr(case when q < 26 then 97 else 22 end + q::integer);
      delta := case when first then delta / 700 else delta / 2 end;
      first := false;
      delta := delta + delta / (done + 1);
      k := 0;
      while delta > 455 loop
        delta := delta / 35;
        k := k + 36;
      end loop;
      bias := k + (36 * delta / (delta + 38))::integer;
      delta := 0;
      done := done + 1;
    end loop;
    delta := delta + 1;
    n := n + 1;
  end loop;
  return written;
end $$;

-- What stays is no name that DNS could have.
create function pg_temp.ascii_address(address text) returns text language plpgsql immutable as $$
declare
  domain text := substring(address from '[^@]*$');
  named  text;
begin
  if domain ~ '^[\x01-\x7f]*$' or getdatabaseencoding() <> 'UTF8' then return address; end if;
  select string_agg(case when label ~ '^[\x01-\x7f]*$' then label else 'xn--' || pg_temp.punycode(label) end, '.' order by place)
    into named
    from unnest(string_to_array(translate(normalize(domain, NFKC), '。', '.'), '.')) with ordinality as each (label, place);
  if named !~ '^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$' then return address; end if;
  return left(address, length(address) - length(domain)) || named;
end $$;

-- The owner sees rows of every site for these statements.
alter table pool_user no force row level security;
alter table pending_sign_up no force row level security;
alter table user_code no force row level security;
alter table contact_recipient no force row level security;

-- Where a pool has an account under both spellings, the one in ASCII is who signs in with either, and the other keeps its own.
update pool_user u set email = changed.email
from (
  select distinct on (site_id, user_pool_id, pg_temp.ascii_address(email))
    site_id, user_pool_id, sub, pg_temp.ascii_address(email) as email
  from pool_user where email ~ '[^\x01-\x7f]'
  order by site_id, user_pool_id, pg_temp.ascii_address(email), created_at, sub
) changed
where u.site_id = changed.site_id and u.user_pool_id = changed.user_pool_id and u.sub = changed.sub
  and not exists (
    select from pool_user other
    where other.site_id = changed.site_id and other.user_pool_id = changed.user_pool_id and other.email = changed.email
  );
update pool_user set external_email = pg_temp.ascii_address(external_email)
where external_email ~ '[^\x01-\x7f]';
update user_code set email = pg_temp.ascii_address(email) where email ~ '[^\x01-\x7f]';
update pending_sign_up set email = pg_temp.ascii_address(email) where email ~ '[^\x01-\x7f]';

insert into contact_recipient (site_id, email, created_at, updated_at)
select site_id, pg_temp.ascii_address(email), created_at, updated_at
from contact_recipient where email ~ '[^\x01-\x7f]'
on conflict do nothing;
delete from contact_recipient where email <> pg_temp.ascii_address(email);

alter table pool_user force row level security;
alter table pending_sign_up force row level security;
alter table user_code force row level security;
alter table contact_recipient force row level security;

drop function pg_temp.ascii_address(text);
drop function pg_temp.punycode(text);

-- Admins look for users by what their addresses begin with; the lists of a pool are in this order already.
create index pool_user_by_email on pool_user (site_id, user_pool_id, email collate "C");
create index pool_user_by_external_email on pool_user (site_id, user_pool_id, external_email collate "C")
  where external_email is not null;
