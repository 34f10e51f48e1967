import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'

import { OAuthError } from './oauth-error.ts'

/** How a request names and authenticates its client; an empty value counts as none. */
export interface ClientClaim {
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly clientAssertion: string | undefined
  readonly authorization: string | undefined
}

const BASIC = /^basic +[A-Za-z0-9+/]+={0,2}$/i

/**
 * The client that a request names (RFC 6749 section 2.3). All clients are public: one that authenticates is configured
 * wrongly, and is told so.
 */
export function publicClient(pool: Pick<Pool, 'clients'>, claim: ClientClaim): Client {
  const proofs = [claim.authorization, claim.clientSecret, claim.clientAssertion].filter(Boolean)
  if (proofs.length > 1) {
    throw new OAuthError('invalid_request', 'The client may authenticate in one way only')
  }
  if (claim.authorization !== undefined && !BASIC.test(claim.authorization)) {
    throw new OAuthError('invalid_request', 'The Authorization header is none of a client')
  }
  if (proofs.length > 0) {
    throw new OAuthError(
      'invalid_client',
      'The clients here are public: send client_id in the body, and no secret',
    )
  }
  if (claim.clientId === undefined) throw new OAuthError('invalid_request', 'client_id is missing')
  const client = pool.clients.get(claim.clientId)
  if (!client) throw new OAuthError('invalid_client', 'There is no such client here')
  return client
}
