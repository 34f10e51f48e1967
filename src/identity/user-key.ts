import { expressionBuilder } from 'kysely'

import type { DatabaseSchema } from '#platform/postgres/database-schema.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** Names an account of a site: `sub` within its pool. */
export interface UserKey {
  readonly userPoolId: string
  readonly sub: string
}

/** Selects the rows of a pool of the transaction's site, in any table that names site and pool. */
export const inPool = ({ siteId }: SiteTx, userPoolId: string) =>
  expressionBuilder<DatabaseSchema, 'pool_user'>().and({
    site_id: siteId,
    user_pool_id: userPoolId,
  })

/** Selects the rows of an account, in any table that names site, pool and account. */
export const ofUser = ({ siteId }: SiteTx, { userPoolId, sub }: UserKey) =>
  expressionBuilder<DatabaseSchema, 'pool_user'>().and({
    site_id: siteId,
    user_pool_id: userPoolId,
    sub,
  })
