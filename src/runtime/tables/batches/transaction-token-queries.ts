import { createHash, timingSafeEqual } from 'node:crypto'

import { AppError } from '#base/app-error.ts'
import { canonicalJson } from '#base/canonical-json.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { TransactRequest } from '#runtime/tables/api/action-fields.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

/** As long as DynamoDB remembers a token. */
const REMEMBERED_MS = 10 * 60 * 1000
const MAX_TOKEN_LENGTH = 36

/** A transaction that its sender named, so that sending it again does nothing more. */
export interface NamedTransaction {
  readonly tokenHash: Buffer
  readonly requestDigest: Buffer
}

/** Undefined without a token. Another request under the same token is `IdempotencyKeyReused`. */
export function namedTransaction(
  token: string | undefined,
  requests: readonly TransactRequest[],
): NamedTransaction | undefined {
  if (token === undefined) return undefined
  if (token.length === 0 || token.length > MAX_TOKEN_LENGTH) {
    const bound = token.length === 0 ? 'greater than or equal to 1' : 'less than or equal to 36'
    throw validationError(
      `1 validation error detected: Value at 'clientRequestToken' failed to satisfy constraint: Member must have length ${bound}`,
    )
  }
  const named = requests.map(namesOfDynamo)
  return { tokenHash: sha256(token), requestDigest: sha256(canonicalJson(named)) }
}

/** The request as DynamoDB spells it: this is the form whose digests are stored. */
const namesOfDynamo = ({ table, kind, fields }: TransactRequest): object => ({
  [capitalized(kind)]: Object.fromEntries(
    Object.entries({ tableName: table.tableId, ...fields }).map(([name, value]) => [
      capitalized(name),
      value,
    ]),
  ),
})

/** False when it is done already. Of two at once the second waits for the first. */
export async function claimTransaction(
  tx: SiteTx,
  named: NamedTransaction,
  now: Date,
): Promise<boolean> {
  await deleteExpired(tx, 'table_transaction', now)
  const claim = {
    request_digest: named.requestDigest,
    expires_at: new Date(now.getTime() + REMEMBERED_MS),
  }
  const claimed = await tx.db
    .insertInto('table_transaction')
    .values({ site_id: tx.siteId, token_hash: named.tokenHash, ...claim })
    .onConflict((on) =>
      on
        .columns(['site_id', 'token_hash'])
        .doUpdateSet(claim)
        .where('table_transaction.expires_at', '<=', now),
    )
    .returning('token_hash')
    .executeTakeFirst()
  if (claimed !== undefined) return true
  const done = await tx.db
    .selectFrom('table_transaction')
    .select('request_digest')
    .where('site_id', '=', tx.siteId)
    .where('token_hash', '=', named.tokenHash)
    .executeTakeFirstOrThrow()
  if (timingSafeEqual(done.request_digest, named.requestDigest)) return false
  throw new AppError(
    'IdempotencyKeyReused',
    'The provided client token was used with another request within the last ten minutes',
  )
}

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
