import type { Pool } from '#identity/pools/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { lockHolder, selectHolder } from './holder-queries.ts'
import type { Holder } from './holder.ts'

/** The user as a token names them; undefined when they are gone, or have not taken up their invitation. */
export const holderOf = (
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  sub: string,
): Promise<Holder | undefined> => selectHolder(tx, pool.userPoolId, sub)

/** For a new sign-in: undefined also when its proof is older than the last sign-out everywhere. */
export async function newHolder(
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  { sub, authTime }: { readonly sub: string; readonly authTime: Date },
): Promise<Holder | undefined> {
  const holder = await currentHolder(tx, pool, { sub, authTime })
  return holder && authTime >= holder.signInsValidAfter ? holder : undefined
}

/** For what comes of a sign-in that goes on. */
export async function currentHolder(
  tx: SiteTx,
  pool: Pick<Pool, 'userPoolId'>,
  { sub, authTime }: { readonly sub: string; readonly authTime: Date },
): Promise<Holder | undefined> {
  const holder = await lockHolder(tx, pool.userPoolId, sub)
  return holder && authTime >= holder.tokensValidAfter ? holder : undefined
}
