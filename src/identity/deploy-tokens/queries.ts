import { sql } from 'kysely'

import { OPERATOR } from '#base/actor.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { DeployTokenScope } from './model.ts'

export interface NewDeployToken {
  readonly tokenId: string
  readonly name: string
  readonly scopes: readonly DeployTokenScope[]
  readonly createdBy: string
  readonly secretHash: Buffer
  readonly createdAt: Date
  readonly expiresAt: Date | null
}

export async function insertDeployToken(tx: SiteTx, token: NewDeployToken): Promise<void> {
  await tx.db
    .insertInto('deploy_token')
    .values({
      site_id: tx.siteId,
      token_id: token.tokenId,
      name: token.name,
      scopes: JSON.stringify(token.scopes),
      created_by: token.createdBy,
      secret_hash: token.secretHash,
      created_at: token.createdAt,
      expires_at: token.expiresAt,
      last_used_at: null,
    })
    .execute()
}

/** The oldest first. */
export function selectDeployTokens(tx: SiteTx) {
  return tx.db
    .selectFrom('deploy_token')
    .select([
      'token_id as tokenId',
      'name',
      'scopes',
      'created_by as createdBy',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'last_used_at as lastUsedAt',
    ])
    .where('site_id', '=', tx.siteId)
    .orderBy('created_at')
    .orderBy('token_id')
    .execute()
}

/** Returns its name; undefined when it was not there. */
export async function deleteDeployToken(tx: SiteTx, tokenId: string): Promise<string | undefined> {
  const row = await tx.db
    .deleteFrom('deploy_token')
    .where('site_id', '=', tx.siteId)
    .where('token_id', '=', tokenId)
    .returning('name')
    .executeTakeFirst()
  return row?.name
}

/** Whose secret it is, if its maker still could make one; also one that has expired. */
export function selectDeployTokenBySecret(tx: SiteTx, secretHash: Buffer) {
  return tx.db
    .selectFrom('deploy_token')
    .select([
      'token_id as tokenId',
      'name',
      'scopes',
      'secret_hash as secretHash',
      'expires_at as expiresAt',
      'last_used_at as lastUsedAt',
    ])
    .where('site_id', '=', tx.siteId)
    .where('secret_hash', '=', secretHash)
    .where(
      sql<boolean>`(deploy_token.created_by = ${OPERATOR}
        or exists (select from pool_user admin
          where admin.site_id = deploy_token.site_id and admin.sub = deploy_token.created_by
            and admin.role = 'super-admin'))`,
    )
    .executeTakeFirst()
}

export async function updateDeployTokenUse(tx: SiteTx, tokenId: string, now: Date): Promise<void> {
  await tx.db
    .updateTable('deploy_token')
    .set({ last_used_at: now })
    .where('site_id', '=', tx.siteId)
    .where('token_id', '=', tokenId)
    .execute()
}
