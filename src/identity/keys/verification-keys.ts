import type { SiteTx } from '#platform/postgres/database.ts'

import { type VerificationKey, importVerificationKey, parsePublicJwk } from './model.ts'
import { selectPublishedKeys } from './queries.ts'

/** Every key of the site that still verifies, by pool and `kid`. */
export async function verificationKeys(
  tx: SiteTx,
  now: Date,
): Promise<ReadonlyMap<string, ReadonlyMap<string, VerificationKey>>> {
  const pools = new Map<string, Map<string, VerificationKey>>()
  for (const { userPoolId, kid, publicJwk, expiresAt } of await selectPublishedKeys(tx, now)) {
    const keys = pools.get(userPoolId) ?? new Map<string, VerificationKey>()
    pools.set(userPoolId, keys)
    const jwk = parsePublicJwk(publicJwk)
    keys.set(kid, {
      kid,
      publicJwk: jwk,
      key: await importVerificationKey(jwk),
      signs: expiresAt === null,
      expiresAtMs: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    })
  }
  return pools
}
