-- Finds the site whose console has a label that is a digest, because its domain is too long for one: the first half of the SHA-256.
create unique index site_domain_digest on site ((left(encode(sha256(domain::bytea), 'hex'), 32)));
