import { hash } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { JOSEError } from 'jose/errors'

import type { Clock } from '#base/clock.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Database } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { Site } from '#sites/site.ts'

import { insertAssertion } from './assertion-queries.ts'
import type { ClaimedClient } from './client-claim.ts'
import { OAuthError } from './oauth-error.ts'

/** Of signatures that a client's key may make; `none` and shared secrets are not among them. */
export const ASSERTION_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']

const MAX_LENGTH = 8192
/** Its end bounds how long we must remember it. */
const MAX_LIFETIME_SECONDS = 3600
const CLOCK_TOLERANCE_SECONDS = 30

const Claims = Type.Object({
  exp: Type.Number(),
  jti: Type.String({ minLength: 1, maxLength: 512 }),
})

/** The client that signed an assertion for us, which is good once (RFC 7523 section 3, OpenID Connect Core section 9). */
export async function requireAssertion(
  {
    database,
    clock,
  }: {
    readonly database: Database
    readonly clock: Clock
  },
  { site, pool }: PoolRequest,
  claimed: Extract<ClaimedClient, { kind: 'assertion' }>,
): Promise<Client> {
  const { assertion } = claimed
  if (assertion.length > MAX_LENGTH) throw invalid(`is longer than ${MAX_LENGTH} characters`)
  const client = pool.clients.get(claimed.clientId ?? subjectOf(assertion))
  if (!client) throw new OAuthError('invalid_client', 'There is no such client here')
  if (client.proofs.jwks === undefined) throw invalid('is not what this client has registered')
  const now = clock.now()
  const { exp, jti } = await verified(assertion, client, { pool, now })
  if (exp > now.getTime() / 1000 + MAX_LIFETIME_SECONDS) {
    throw invalid(`may be good for ${MAX_LIFETIME_SECONDS} seconds at most`)
  }
  const expiresAt = new Date((exp + CLOCK_TOLERANCE_SECONDS) * 1000)
  if (!(await isFirstUse(database, site, { client, jti, expiresAt, now }))) {
    throw invalid('was used already')
  }
  return client
}

async function verified(
  assertion: string,
  { clientId, proofs }: Client,
  { pool, now }: { readonly pool: Pool; readonly now: Date },
): Promise<Static<typeof Claims>> {
  try {
    const keys = createLocalJWKSet(proofs.jwks ?? { keys: [] })
    const { payload } = await jwtVerify(assertion, keys, {
      algorithms: ASSERTION_ALGORITHMS,
      issuer: clientId,
      subject: clientId,
      audience: pool.issuer,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['exp', 'jti'],
      currentDate: now,
    })
    if (Array.isArray(payload.aud))
      throw invalid('names several audiences: aud is one string, the issuer')
    return Value.Parse(Claims, payload)
  } catch (error) {
    if (error instanceof OAuthError) throw error
    // The only inputs are the assertion and keys that were checked when they were registered.
    throw invalid(error instanceof JOSEError ? `is not valid: ${error.code}` : 'is not valid')
  }
}

/** Before anything of it is believed. */
function subjectOf(assertion: string): string {
  try {
    return decodeJwt(assertion).sub ?? ''
  } catch {
    throw invalid('is no JWT')
  }
}

function isFirstUse(
  database: Database,
  { siteId }: Site,
  {
    client,
    jti,
    ...use
  }: {
    readonly client: Client
    readonly jti: string
    readonly expiresAt: Date
    readonly now: Date
  },
): Promise<boolean> {
  const jtiHash = hash('sha256', jti, 'buffer')
  return database.withSite(siteId, async (tx) => {
    await deleteExpired(tx, 'client_assertion', use.now)
    return insertAssertion(tx, { clientId: client.clientId, jtiHash, expiresAt: use.expiresAt })
  })
}

const invalid = (fault: string): OAuthError =>
  new OAuthError('invalid_client', `client_assertion ${fault}`)
