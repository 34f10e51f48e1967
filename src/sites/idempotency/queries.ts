import type { SiteTx } from '#platform/postgres/database.ts'

export interface IdempotencyKey {
  readonly scope: string
  readonly keyHash: Buffer
}

export interface StoredAnswer {
  readonly requestDigest: Buffer
  /** Null only inside the transaction that is computing it. */
  readonly answer: unknown
  readonly expiresAt: Date
}

/** Returns false when the key is taken. Waits for a transaction that is taking it, and takes over a key that has expired. */
export async function claimKey(
  tx: SiteTx,
  key: IdempotencyKey & {
    readonly requestDigest: Buffer
    readonly now: Date
    readonly expiresAt: Date
  },
): Promise<boolean> {
  const claim = {
    request_digest: key.requestDigest,
    answer: null,
    created_at: key.now,
    expires_at: key.expiresAt,
  }
  const claimed = await tx.db
    .insertInto('idempotent_answer')
    .values({ site_id: tx.siteId, scope: key.scope, key_hash: key.keyHash, ...claim })
    .onConflict((on) =>
      on
        .columns(['site_id', 'scope', 'key_hash'])
        .doUpdateSet(claim)
        .where('idempotent_answer.expires_at', '<=', key.now),
    )
    .returning('scope')
    .executeTakeFirst()
  return claimed !== undefined
}

export async function updateAnswer(tx: SiteTx, key: IdempotencyKey, answer: string): Promise<void> {
  await tx.db
    .updateTable('idempotent_answer')
    .set({ answer: JSON.stringify(answer) })
    .where('site_id', '=', tx.siteId)
    .where('scope', '=', key.scope)
    .where('key_hash', '=', key.keyHash)
    .execute()
}

export function selectAnswer(tx: SiteTx, key: IdempotencyKey): Promise<StoredAnswer | undefined> {
  return tx.db
    .selectFrom('idempotent_answer')
    .select(['request_digest as requestDigest', 'answer', 'expires_at as expiresAt'])
    .where('site_id', '=', tx.siteId)
    .where('scope', '=', key.scope)
    .where('key_hash', '=', key.keyHash)
    .executeTakeFirst()
}
