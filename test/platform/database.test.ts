import { AbortedTransactionError, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'

const POOL = 3

let postgres: PostgresPlatform & TestDatabase
beforeEach(async () => {
  postgres = await openDatabase({ poolSize: POOL })
})
afterEach(() => postgres[Symbol.asyncDispose]())

const cutAll = () =>
  asAdmin(
    (admin) => admin`select pg_terminate_backend(pid) from pg_stat_activity
                     where datname = ${postgres.name} and pid <> pg_backend_pid()`,
  )

const ping = () => postgres.database.withSite('one', async () => 'pong')

describe('a transaction', () => {
  test('runs its effects after its commit, in order', async () => {
    const events: string[] = []
    await postgres.database.withSite('one', async (tx) => {
      tx.onCommit(() => events.push('first'))
      tx.onCommit(() => events.push('second'))
      await sql`select 1`.execute(tx.db)
      events.push('work')
    })
    expect(events).toEqual(['work', 'first', 'second'])
  })

  test('runs none when it rolls back, nor when its commit fails', async () => {
    const events: string[] = []
    const thrown = postgres.database.withSite('one', async (tx) => {
      tx.onCommit(() => events.push('effect'))
      throw new Error('no')
    })
    await expect(thrown).rejects.toThrow('no')
    const cut = postgres.database.withSite('one', async (tx) => {
      tx.onCommit(() => events.push('effect'))
      await cutAll()
    })
    await expect(cut).rejects.toMatchObject({ code: 'ServiceUnavailable' })
    expect(events).toEqual([])
  })

  test('that went on after a failed statement does not pass for committed', async () => {
    const swallowed = postgres.database.withSite('one', async (tx) => {
      await sql`select 1 / 0`.execute(tx.db).catch(() => {})
    })
    await expect(swallowed).rejects.toThrow(AbortedTransactionError)
  })

  test('says that the disk is full, and leaves the connection as good as before', async () => {
    const full = postgres.database.withSite('one', (tx) =>
      sql`do $$ begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$`.execute(
        tx.db,
      ),
    )
    await expect(full).rejects.toMatchObject({
      code: 'DiskFull',
      message: expect.stringContaining('disk is full'),
      cause: { message: 'No space left on device' },
    })
    expect(await ping()).toBe('pong')
  })

  test('leaves its site to no later user of the connection', async () => {
    const setting = () =>
      postgres.database.withDirectory(async ({ db }) => {
        const answer = await sql<{ site: string | null }>`
          select nullif(current_setting('app.site_id', true), '') as site`.execute(db)
        return answer.rows[0]?.site
      })
    for (let round = 0; round < POOL * 2; round++) await ping()
    expect(new Set(await Promise.all(Array.from({ length: POOL * 2 }, setting)))).toEqual(
      new Set([null]),
    )
  })
})

describe('the pool', () => {
  test('serves more callers than it has connections', async () => {
    const answers = await Promise.all(Array.from({ length: POOL * 20 }, ping))
    expect(new Set(answers)).toEqual(new Set(['pong']))
  })

  test('is whole again after every connection was cut, idle or in the middle of work', async () => {
    for (let round = 0; round < 3; round++) {
      const broken = Array.from({ length: POOL }, () =>
        postgres.database.withSite('one', (tx) => sql`select pg_sleep(30)`.execute(tx.db)),
      )
      const outcomes = Promise.allSettled(broken)
      await expect
        .poll(async () => {
          let busy = 0
          await asAdmin(async (admin) => {
            const [row] = await admin<{ busy: number }[]>`
              select count(*)::int as busy from pg_stat_activity
              where datname = ${postgres.name} and query like '%pg_sleep%'`
            busy = row?.busy ?? 0
          })
          return busy
        })
        .toBe(POOL)
      await cutAll()
      for (const { status } of await outcomes) expect(status).toBe('rejected')
      const answers = await Promise.all(Array.from({ length: POOL * 3 }, ping))
      expect(answers).toHaveLength(POOL * 3)
    }
  })

  test('lets a caller wait in line no longer than ten seconds', async () => {
    const gate = Promise.withResolvers<void>()
    const holders = Array.from({ length: POOL }, () =>
      postgres.database.withSite('one', () => gate.promise),
    )
    await expect(ping()).rejects.toMatchObject({ code: 'ServiceUnavailable', retryAfterSeconds: 1 })
    gate.resolve()
    await Promise.all(holders)
    expect(await ping()).toBe('pong')
  })

  test('is whole again after work that was cut between two statements', async () => {
    for (let round = 0; round < POOL * 2; round++) {
      const broken = postgres.database.withSite('one', async (tx) => {
        await cutAll()
        await sql`select 1`.execute(tx.db)
      })
      await expect(broken).rejects.toMatchObject({ code: 'ServiceUnavailable' })
    }
    expect(await Promise.all(Array.from({ length: POOL * 3 }, ping))).toHaveLength(POOL * 3)
  })
})
