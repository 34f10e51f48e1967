import { timingSafeEqual } from 'node:crypto'

import type { Clock } from '#base/clock.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Database } from '#platform/postgres/database.ts'

import { requireAssertion } from './client-assertion.ts'
import { type ClaimedClient, type ClientClaim, readClientClaim } from './client-claim.ts'
import { OAuthError } from './oauth-error.ts'

/** Which client sends a request to the token endpoint or to that of revocations, and that it is the one. */
export class ClientAuthentication {
  readonly #deps

  constructor(deps: { readonly database: Database; readonly clock: Clock }) {
    this.#deps = deps
  }

  /** `invalid_client` for one that proves nothing, or another thing than it has registered. */
  async authenticate(request: PoolRequest, claim: ClientClaim): Promise<Client> {
    const claimed = readClientClaim(claim)
    if (claimed.kind === 'assertion') return requireAssertion(this.#deps, request, claimed)
    const client = knownClient(request.pool, claimed.clientId)
    const { authentication } = client.proofs
    if (claimed.kind === 'public' && authentication === 'none') return client
    if (authentication !== 'client_secret' || claimed.kind === 'public') throw other(client)
    this.#requireSecret(client, claimed)
    return client
  }

  #requireSecret({ proofs }: Client, { secret }: Extract<ClaimedClient, { kind: 'secret' }>): void {
    const hash = hashSecret(secret)
    const now = this.#deps.clock.now()
    const isOne = proofs.secrets.some(
      (each) => (each.endsAt === null || each.endsAt > now) && timingSafeEqual(each.hash, hash),
    )
    if (!isOne) throw new OAuthError('invalid_client', 'The secret is not that of the client')
  }
}

function knownClient(pool: Pick<Pool, 'clients'>, clientId: string): Client {
  const client = pool.clients.get(clientId)
  if (!client) throw new OAuthError('invalid_client', 'There is no such client here')
  return client
}

const EXPECTED = {
  none: 'This client is public: send client_id in the body, and no secret',
  client_secret:
    'This client has a secret: send it as Basic in the Authorization header, or as client_secret in the body',
  private_key_jwt: 'This client signs its requests: send client_assertion',
} as const

const other = ({ proofs }: Client): OAuthError =>
  new OAuthError('invalid_client', EXPECTED[proofs.authentication])
