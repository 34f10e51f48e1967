import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { POOL_KINDS } from '#identity/pool-kind.ts'
import type { SitePools } from '#identity/pools/model.ts'

import type { RegisteredClient } from './model.ts'
import type { StoredRegistration } from './queries.ts'

const Texts = Type.Array(Type.String())

export const registeredUris = (stored: unknown): string[] => Value.Parse(Texts, stored)

export function recordOf(pools: SitePools, row: StoredRegistration): RegisteredClient {
  const { userPoolId, createdAt, updatedAt, formerSecretEndsAt, ...rest } = row
  const pool = POOL_KINDS.find((kind) => pools[kind].userPoolId === userPoolId) ?? 'data'
  return {
    ...rest,
    pool,
    issuer: pools[pool].issuer,
    redirectUris: registeredUris(row.redirectUris),
    logoutUris: registeredUris(row.logoutUris),
    formerSecretEndsAt: formerSecretEndsAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}
