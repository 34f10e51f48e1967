import { expect, vi } from 'vitest'

import { Owner } from './account-owner.ts'
import { textOf } from './form-browser.ts'
import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'
import { asSuperuser } from './superuser.ts'

export type Sql = Parameters<Parameters<typeof asSuperuser>[1]>[0]

const PATIENCE = { timeout: 30_000, interval: 25 }

/** An account whose owner has just deleted it. */
export async function deletingAccount(stack: Stack, host: string): Promise<Owner> {
  const owner = await Owner.of(stack, host)
  const gone = await owner.send('/delete', { username: owner.email })
  expect(gone.status, textOf(gone.text)).toBe(200)
  return owner
}

/** The account as admins see it. */
export async function accountOf(stack: Stack, { party, sub }: Owner): Promise<Answer> {
  const token = await stack.adminToken(party.host, 'admin')
  return stack.call(party.host, 'GET', `/admin/data/users/${sub}`, { token })
}

/** Its seven days are over: the row's time and the job's are those of a week ago. */
export async function endWeek(
  sql: Sql,
  { sub, party }: Pick<Owner, 'sub' | 'party'>,
): Promise<void> {
  await sql`update account_deletion set expires_at = now() where sub = ${sub}`
  await startDeletions(sql, party.site.siteId)
}

/** Lets the job of a site start that waits for its next account. */
export async function startDeletions(sql: Sql, siteId: string): Promise<void> {
  await sql`
    update pgboss.job set start_after = now()
    where name = 'account-deletion' and state = 'created' and data->>'siteId' = ${siteId}`
}

/** Holds the account as another transaction would, until `release`. */
export async function holdAccount(stack: Stack, { sub }: Owner) {
  const held = Promise.withResolvers<void>()
  const holding = Promise.withResolvers<void>()
  const holder = asSuperuser(stack, (sql) =>
    sql.begin(async (tx) => {
      await tx`select from pool_user where sub = ${sub} for update`
      holding.resolve()
      await held.promise
    }),
  )
  await holding.promise
  return {
    release: async () => {
      held.resolve()
      await holder
    },
  }
}

/** Resolves when so many sessions wait for a lock. */
export async function sessionsWait(sql: Sql, sessions: number): Promise<void> {
  await vi.waitUntil(async () => {
    const waiting = await sql`
      select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    return waiting.length >= sessions
  }, PATIENCE)
}
