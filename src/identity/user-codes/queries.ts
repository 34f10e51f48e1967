import { sql } from 'kysely'

import { MAX_CODE_ATTEMPTS } from '#identity/mailed-codes.ts'
import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { OF_NETWORK, type UserCodeKey } from './model.ts'

interface NewUserCode extends UserCodeKey {
  readonly codeHash: Buffer
  /** The address that it is mailed to. */
  readonly email: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Of a request that has one code, however often its job runs. */
  readonly requestId?: string | undefined
}

/** A newer code replaces the one before, of the same requester. False when that one is of the same request. */
export async function upsertUserCode(tx: SiteTx, code: NewUserCode): Promise<boolean> {
  const values = {
    code_hash: code.codeHash,
    email: code.email,
    tries: 0,
    other_tries: 0,
    created_at: code.createdAt,
    expires_at: code.expiresAt,
    request_id: code.requestId ?? null,
  }
  const { numInsertedOrUpdatedRows = 0n } = await tx.db
    .insertInto('user_code')
    .values({
      site_id: tx.siteId,
      user_pool_id: code.userPoolId,
      sub: code.sub,
      purpose: code.purpose,
      requester: code.requester,
      ...values,
    })
    .onConflict((on) =>
      on
        .columns(['site_id', 'user_pool_id', 'sub', 'purpose', 'requester'])
        .doUpdateSet(values)
        .where(sql<boolean>`(user_code.request_id = excluded.request_id) is not true`),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/**
 * Uses up one try, before anything is compared. Undefined when there is no code with a try left. A code is its requester's. One
 * that a program requested may come from another network, too, as telephones do between the two steps; such tries are counted
 * apart, so that strangers burn none of its own.
 */
export function takeAttempt(
  tx: SiteTx,
  { purpose, requester, ...user }: UserCodeKey,
  now: Date,
): Promise<{ readonly codeHash: Buffer; readonly email: string } | undefined> {
  const isOwn = sql<boolean>`user_code.requester = ${requester}`
  return tx.db
    .updateTable('user_code')
    .set({
      tries: sql<number>`tries + (${isOwn})::int`,
      other_tries: sql<number>`other_tries + (not ${isOwn})::int`,
    })
    .where(ofUser(tx, user))
    .where('purpose', '=', purpose)
    .where(sql<boolean>`case when ${isOwn} then tries else other_tries end < ${MAX_CODE_ATTEMPTS}`)
    .where('expires_at', '>', now)
    .where('requester', '=', (code) =>
      code
        .selectFrom('user_code')
        .select('requester')
        .where(ofUser(tx, user))
        .where('purpose', '=', purpose)
        .where((where) =>
          where.or([
            isOwn,
            sql<boolean>`${requester.startsWith(OF_NETWORK)} and starts_with(requester, ${OF_NETWORK})`,
          ]),
        )
        .orderBy(isOwn, 'desc')
        .orderBy('created_at', 'desc')
        .limit(1),
    )
    .returning(['code_hash as codeHash', 'email'])
    .executeTakeFirst()
}

/** Of every requester when that is left out. */
export async function deleteUserCodes(
  tx: SiteTx,
  { purpose, requester, ...user }: UserKey & Pick<UserCodeKey, 'purpose'> & Partial<UserCodeKey>,
): Promise<void> {
  await tx.db
    .deleteFrom('user_code')
    .where(ofUser(tx, user))
    .where('purpose', '=', purpose)
    .$if(requester !== undefined, (query) => query.where('requester', '=', requester ?? ''))
    .execute()
}
