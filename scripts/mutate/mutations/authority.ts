import { type Mutation, faultsOf } from '#scripts/mutate/mutation.ts'

const of = faultsOf('authority')

const CLAIMS = 'src/identity/tokens/claim-checks.ts'
const VERIFIER_TEST = ['src/identity/tokens/token-verifier.test.ts']
const PARAMETERS = 'src/identity/authorization/parameter-checks.ts'
const AUTHORIZATION_TEST = ['src/identity/authorization/check-authorization.test.ts']
const AUTHORIZE_TEST = ['test/oidc/authorize.test.ts']
const CODES = 'src/identity/token-endpoint/code-exchange.ts'
const TOKEN_TEST = ['test/oidc/token.test.ts']
const REFRESH = 'src/identity/token-endpoint/refresh-exchange.ts'
const REFRESH_TEST = ['test/oidc/refresh.test.ts']
const URIS = 'src/identity/pools/registered-uri.ts'
const URIS_TEST = ['src/identity/pools/registered-uri.test.ts']

/** Who may do what: tokens, roles, sign-ins. */
export const AUTHORITY: readonly Mutation[] = [
  of(
    'a token of any issuer',
    [CLAIMS, 'pool.issuers.includes(claims.iss)', 'pool.issuers.length > 0 || claims.iss === ""'],
    'a token of another site opens this one',
    VERIFIER_TEST,
  ),
  of(
    'an id token as access token',
    [CLAIMS, 'uses.includes(claims.token_use)', 'uses.length > 0 || claims.token_use === "id"'],
    'what an application shows around opens the API',
    VERIFIER_TEST,
  ),
  of(
    'a token of any type',
    [
      CLAIMS,
      "header['typ'] === tokenTypeOf(claims)",
      "header['typ'] !== '' || tokenTypeOf(claims)",
    ],
    'one kind of JWT passes for another',
    VERIFIER_TEST,
  ),
  of(
    'a token of any client',
    [CLAIMS, '|| !TAKEN[clients](client)) return false', ') return false'],
    'a token of another application opens the API',
    VERIFIER_TEST,
  ),
  of(
    'a token before its time',
    [CLAIMS, '(claims.nbf ?? 0) <= nowSeconds', '(claims.nbf ?? 0) >= 0 || nowSeconds > 0'],
    'nbf means nothing',
    VERIFIER_TEST,
  ),
  of(
    'a token that brings its own key',
    [CLAIMS, "name === 'alg' || name === 'kid'", "name !== '' || name === 'kid'"],
    'header parameters of others are believed one day',
    VERIFIER_TEST,
  ),
  of(
    'an expired token',
    [
      'src/identity/tokens/token-verifier.ts',
      'claims.exp <= nowSeconds',
      'claims.exp <= 0 * nowSeconds',
    ],
    'tokens never end',
    VERIFIER_TEST,
  ),
  of(
    'several spellings of a signature',
    [
      'src/identity/tokens/token-verifier.ts',
      "toString('base64url') !== signature",
      "toString('base64url') === ''",
    ],
    'one token has sixteen spellings, and lists of ended ones miss fifteen',
    VERIFIER_TEST,
  ),
  of(
    'any scheme for a token',
    ['src/identity/tokens/bearer.ts', '.toLowerCase() !== SCHEME', ".toLowerCase() === ''"],
    'a token in a Basic header is taken',
    ['src/identity/tokens/bearer.test.ts'],
  ),
  of(
    'a code without its verifier',
    [
      'src/identity/token-endpoint/pkce.ts',
      'verifier !== undefined && isSameText',
      'verifier === undefined || isSameText',
    ],
    'a stolen code is as good as the browser that began',
    ['src/identity/token-endpoint/pkce.test.ts'],
  ),
  of(
    'a short verifier',
    ['src/identity/token-endpoint/pkce.ts', '{43,128}', '{1,128}'],
    'a verifier can be guessed',
    ['src/identity/token-endpoint/pkce.test.ts'],
  ),
  of(
    'a redirect to what begins like a registered URI',
    [
      PARAMETERS,
      "!client?.redirectUris.includes(values.get('redirect_uri') ?? '')",
      "!client?.redirectUris.some((uri) => (values.get('redirect_uri') ?? '').startsWith(uri))",
    ],
    'codes go to https://app.test.evil.test',
    AUTHORIZATION_TEST,
  ),
  of(
    'plain PKCE',
    [
      PARAMETERS,
      "values.get('code_challenge_method') !== 'S256'",
      "values.get('code_challenge_method') === 'none'",
    ],
    'the challenge in the URL is the verifier',
    AUTHORIZE_TEST,
  ),
  of(
    'a public client without PKCE',
    [
      PARAMETERS,
      "client?.purpose !== 'account' && (client?.proofs.authentication ?? 'none') === 'none'",
      "client?.purpose === 'link' && (client.proofs.authentication ?? 'none') === 'none'",
    ],
    'a stolen code is enough',
    AUTHORIZATION_TEST,
  ),
  of(
    'a registered URI over plain HTTP',
    [
      URIS,
      'return LOOPBACK.includes(hostname) || origin === ownOrigin',
      "return hostname !== '' || origin === ownOrigin || LOOPBACK.length > 0",
    ],
    'codes travel in the clear',
    URIS_TEST,
  ),
  of(
    'a registered URI of any scheme',
    [URIS, "return protocol.includes('.')", "return protocol !== ''"],
    'javascript: and data: get codes',
    URIS_TEST,
  ),
  of(
    'a code of another client',
    [CODES, 'code.clientId !== clientId', 'code.clientId === "" || clientId === ""'],
    'one application redeems what another was given',
    TOKEN_TEST,
  ),
  of(
    'a code for another redirect',
    [CODES, 'code.redirectUri !== redirectUri', 'code.redirectUri === "" || redirectUri === ""'],
    'an injected code is redeemed',
    TOKEN_TEST,
  ),
  of(
    'a code that never expires',
    [CODES, 'is: (code) => code.expired', 'is: (code) => code.expired && code.familyId === ""'],
    'a code in an old log still works',
    TOKEN_TEST,
  ),
  of(
    'a replay that ends nothing',
    [
      'src/identity/token-endpoint/replay.ts',
      'if (familyId !== null) await deps.families.end(tx, stored, familyId)',
      'if (familyId === null) await deps.families.end(tx, stored, "")',
    ],
    'a thief keeps the tokens of a stolen code',
    TOKEN_TEST,
  ),
  of(
    'a refresh token of another client',
    [
      REFRESH,
      'if (stored.clientId !== clientId)',
      'if (stored.clientId === "" || clientId === "")',
    ],
    'one application renews the sign-in of another',
    REFRESH_TEST,
  ),
  of(
    'a refresh token that was revoked',
    [REFRESH, 'if (stored.revokedAt !== null)', 'if (stored.revokedAt === undefined)'],
    'a sign-out ends nothing',
    REFRESH_TEST,
  ),
  of(
    'a refresh token that never expires',
    [REFRESH, 'if (stored.expiresAt <= now)', 'if (stored.expiresAt.getTime() <= 0)'],
    'a sign-in never ends',
    REFRESH_TEST,
  ),
  of(
    'a code of an authenticator app twice',
    [
      'src/identity/second-factors/totp.ts',
      'return step > after ? step : undefined',
      'return step > 0 * after ? step : undefined',
    ],
    'a code that was looked at over a shoulder works',
    ['src/identity/second-factors/totp.test.ts'],
  ),
  of(
    'codes of an authenticator app for minutes',
    ['src/identity/second-factors/totp.ts', 'const WINDOW = 1\n', 'const WINDOW = 10\n'],
    'ten times as many codes are right',
    ['src/identity/second-factors/totp.test.ts'],
  ),
  of(
    'any mailed code',
    [
      'src/identity/mailed-codes.ts',
      'return same && SHAPE.test(code)',
      'return (same || code !== "") && SHAPE.test(code)',
    ],
    'an account is taken over by its address',
    ['src/identity/mailed-codes.test.ts'],
  ),
  of(
    'a mailed code for another purpose',
    [
      'src/identity/mailed-codes.ts',
      'JSON.stringify([siteId, userPoolId, purpose, id, code])',
      'JSON.stringify([siteId, userPoolId, purpose === "" ? "" : "any", id, code])',
    ],
    'the code that proves an address resets a password',
    ['src/identity/mailed-codes.test.ts'],
  ),
  of(
    'cheap password hashes',
    ['src/identity/passwords/hasher.ts', 'memoryCost: 19_456', 'memoryCost: 1024'],
    'a stolen database is guessed twenty times as fast',
    ['src/identity/passwords/hasher.test.ts'],
  ),
  of(
    'an admin of any role',
    [
      'src/http/plugins/admin-auth.ts',
      'if (atLeast(actor, least)) return actor',
      'if (atLeast(actor, least) || actor !== undefined) return actor',
    ],
    'a user does what is the super-admin’s',
    ['test/admin-data/groups.test.ts'],
  ),
  of(
    'any operator key',
    ['src/http/plugins/operator-auth.ts', "=== 'bearer' && valid", "=== 'bearer' || valid"],
    'the installation is open',
    ['test/identity/portal-routes.test.ts'],
  ),
]
