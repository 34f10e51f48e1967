import { type Mutation, faultsOf } from '#scripts/mutate/mutation.ts'

const of = faultsOf('tenancy')

const URLS = 'src/platform/objects/object-urls.ts'
const URLS_TEST = ['src/platform/objects/object-urls.test.ts']

/** What keeps sites, secrets and signatures apart. */
export const TENANCY: readonly Mutation[] = [
  of(
    'row-level security that owners pass',
    [
      'migrations/0400_mailboxes.sql',
      'alter table mailbox force row level security;',
      'alter table mailbox no force row level security;',
    ],
    'a query without a site reads the mailboxes of all',
    ['test/isolation/catalogue.test.ts'],
  ),
  of(
    'a site that outlives its transaction',
    [
      'src/platform/postgres/database.ts',
      'set_config(${name}, ${value}, true)',
      'set_config(${name}, ${value}, false)',
    ],
    'the next request on the connection reads the rows of this site',
    ['test/platform/database.test.ts'],
  ),
  of(
    'effects before the commit',
    [
      'src/platform/postgres/database.ts',
      'onCommit: (effect) => effects.push(effect)',
      'onCommit: (effect) => effect()',
    ],
    'others are woken for what is rolled back',
    ['test/platform/database.test.ts'],
  ),
  of(
    'counters of all sites together',
    [
      'src/platform/redis/memory-counters.ts',
      '`${siteId} ${name}`',
      '`${siteId.slice(0, 0)} ${name}`',
    ],
    'failures at one site lock people out of another',
    ['src/platform/redis/memory-counters.test.ts'],
  ),
  of(
    'a continuation for any list',
    [
      'src/base/page.ts',
      'hmac.update(JSON.stringify(scope))',
      'hmac.update(JSON.stringify(scope).slice(0, 0))',
    ],
    'the token of one site’s list continues another’s',
    ['src/base/page.test.ts'],
  ),
  of(
    'a secret in any context',
    [
      'src/platform/seal/aes-gcm.ts',
      '  decipher.setAAD(Buffer.from(context))\n',
      "  decipher.setAAD(Buffer.from('one'))\n",
    ],
    'nothing opens, or everything opens as anything',
    ['src/platform/seal/sealer.test.ts'],
  ),
  of(
    'a secret of any context',
    [
      'src/platform/seal/sealer.ts',
      'return encrypt(this.#unwrap(key), context, plaintext)',
      'return encrypt(this.#unwrap(key), context.slice(0, 0), plaintext)',
    ],
    'a secret opens as another kind',
    ['src/platform/seal/sealer.test.ts'],
  ),
  of(
    'a seal that never expires',
    [
      'src/platform/seal/expiring-seal.ts',
      'return content.expiresAtMs > clock.now().getTime() ? content : undefined',
      'return content.expiresAtMs > 0 * clock.now().getTime() ? content : undefined',
    ],
    'a page of last year still signs in',
    ['src/platform/seal/expiring-seal.test.ts'],
  ),
  of(
    'a URL with any signature',
    [URLS, '|| !timingSafeEqual(given, right))', '&& !timingSafeEqual(given, right))'],
    'any user reads and writes objects',
    URLS_TEST,
  ),
  of(
    'a URL that never expires',
    [URLS, 'if (grant.expiresAt <= this.#clock.now())', 'if (grant.expiresAt.getTime() <= 0)'],
    'a link that was shared for a minute works for ever',
    URLS_TEST,
  ),
  of(
    'a URL at any site',
    [URLS, '!grant.key.startsWith(`sites/${asked.siteId}/`)', '!grant.key.startsWith(`sites/`)'],
    'pages of one site serve objects of another',
    URLS_TEST,
  ),
  of(
    'a URL for any method',
    [URLS, 'return wanted === grant.method ? { grant }', "return wanted !== '' ? { grant }"],
    'a link for reading writes',
    URLS_TEST,
  ),
  of(
    'a store that a function was not granted',
    [
      'src/runtime/host-calls/store-access.ts',
      "access === 'readWrite' || access === needed",
      'access !== needed || access === needed',
    ],
    'a function that may read writes',
    ['src/runtime/host-calls/store-access.test.ts'],
  ),
]
