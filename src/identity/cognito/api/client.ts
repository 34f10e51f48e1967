import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'

import { CognitoError, notAuthorized } from './cognito-error.ts'

export interface ClientIdentity {
  readonly ClientId: string
  readonly SecretHash?: string | null
}

/** The client, when the operator lets it use this API. Any other does not exist here. */
export function requireCognitoClient(pool: Pool, { ClientId, SecretHash }: ClientIdentity): Client {
  const client = pool.clients.get(ClientId)
  if (!client?.cognitoApi || client.purpose !== 'default') {
    throw new CognitoError(
      'ResourceNotFoundException',
      `User pool client ${ClientId} does not exist.`,
    )
  }
  if (typeof SecretHash === 'string') {
    throw notAuthorized(`Unable to verify secret hash for client ${ClientId}`)
  }
  return client
}
