import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import {
  PostgresNotifications,
  type NotificationChannels,
} from '#platform/postgres/notifications.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { APP_ROLE } from '#platform/postgres/role.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'
import { TcpProxy } from '#test/tcp-proxy.ts'

const PATIENCE = { timeout: 20_000, interval: 5 }

let cleanUp: AsyncDisposableStack
let postgres: PostgresPlatform & TestDatabase
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  postgres = cleanUp.use(await openDatabase())
})
afterEach(() => cleanUp.disposeAsync())

const say = (revision: number) =>
  postgres.database.withSite('one', (tx) =>
    postgres.notifications.notify(tx, 'croft_revision', { siteId: 'one', revision }),
  )

/** Another replica that receives revisions. */
async function listener(url = postgres.url) {
  const heard: NotificationChannels['croft_revision'][] = []
  let gaps = 0
  let doubts = 0
  const notifications = cleanUp.use(
    new PostgresNotifications({ url, role: APP_ROLE, log: silentLog }),
  )
  await notifications.listen('croft_revision', {
    onMessage: (message) => void heard.push(message),
    onDoubt: () => void (doubts += 1),
    onGap: () => void (gaps += 1),
  })
  return { heard, gaps: () => gaps, doubts: () => doubts, notifications }
}

/** Those that listen, or were asked since whether they still do. */
const cutListeners = () =>
  asAdmin(
    (admin) => admin`select pg_terminate_backend(pid) from pg_stat_activity
                     where datname = ${postgres.name}
                       and (query like 'listen%' or query = 'select 1')`,
  )

describe('a notification', () => {
  test('reaches every replica that listens, once the transaction has committed', async () => {
    const one = await listener()
    const two = await listener()
    await postgres.database.withSite('one', async (tx) => {
      await postgres.notifications.notify(tx, 'croft_revision', { siteId: 'one', revision: 1 })
      await tx.db.selectFrom('site').select('site_id').execute()
      expect(one.heard).toEqual([])
    })
    for (const { heard } of [one, two]) {
      await vi.waitFor(() => expect(heard).toEqual([{ siteId: 'one', revision: 1 }]), PATIENCE)
    }
  })

  test('is never sent when the transaction rolls back', async () => {
    const { heard } = await listener()
    const lost = postgres.database.withSite('one', async (tx) => {
      await postgres.notifications.notify(tx, 'croft_revision', { siteId: 'one', revision: 1 })
      throw new Error('no')
    })
    await expect(lost).rejects.toThrow('no')
    await say(2)
    await vi.waitFor(() => expect(heard).toEqual([{ siteId: 'one', revision: 2 }]), PATIENCE)
  })

  test('does not reach those who listen to another channel', async () => {
    const { notifications, heard } = await listener()
    const other: unknown[] = []
    await notifications.listen('croft_site', {
      onMessage: (message) => void other.push(message),
      onGap: () => {},
    })
    await say(1)
    await vi.waitFor(() => expect(heard).toHaveLength(1), PATIENCE)
    expect(other).toEqual([])
  })

  test('that Postgres would cut short is refused', async () => {
    const long = postgres.database.withSite('one', (tx) =>
      postgres.notifications.notify(tx, 'croft_site', { siteId: 'x'.repeat(8000), domains: [] }),
    )
    await expect(long).rejects.toThrow('over 7999 bytes')
  })
})

describe('a listener', () => {
  test('that lost its connection comes back and says that it may have missed something', async () => {
    const { heard, gaps } = await listener()
    for (let round = 1; round <= 3; round++) {
      await cutListeners()
      await vi.waitFor(() => expect(gaps()).toBe(round), PATIENCE)
      await say(round)
      await vi.waitFor(() => expect(heard.at(-1)?.revision).toBe(round), PATIENCE)
    }
  })

  test('keeps trying while Postgres refuses connections', async () => {
    const { heard, gaps } = await listener()
    const allow = (yes: boolean) =>
      asAdmin(
        (admin) =>
          admin`alter database ${admin(postgres.name)} allow_connections ${admin.unsafe(String(yes))}`,
      )
    await allow(false)
    await cutListeners()
    await vi.waitFor(() => expect(postgres.sql`select 1`).resolves.toHaveLength(1), PATIENCE)
    expect(gaps()).toBe(0)
    await allow(true)
    await vi.waitFor(() => expect(gaps()).toBe(1), PATIENCE)
    await say(7)
    await vi.waitFor(() => expect(heard).toEqual([{ siteId: 'one', revision: 7 }]), PATIENCE)
  })

  test('that falls silent is in doubt once a second, and in none once it receives again', async () => {
    const proxy = cleanUp.use(await TcpProxy.start(postgres.url))
    const { doubts, gaps, heard, notifications } = await listener(proxy.url)
    proxy.silenceListeners()
    // That of the start, before the first sign of life, is one of them.
    await vi.waitFor(() => expect(doubts()).toBeGreaterThanOrEqual(3), PATIENCE)
    expect(gaps()).toBe(0)
    proxy.letListen()
    await vi.waitFor(() => expect(gaps()).toBe(1), PATIENCE)
    await say(1)
    await vi.waitFor(() => expect(heard).toEqual([{ siteId: 'one', revision: 1 }]), PATIENCE)
    const backMs = performance.now()
    const known = doubts()
    // What was read without a sign of life would be in doubt again after a second.
    await vi.waitFor(() => expect(performance.now() - backMs).toBeGreaterThan(1100), PATIENCE)
    notifications.confirm()
    expect(doubts()).toBe(known)
  })

  test('whose connection ends is in doubt at once', async () => {
    const { doubts, notifications } = await listener()
    notifications.confirm()
    const known = doubts()
    await cutListeners()
    await vi.waitFor(() => {
      notifications.confirm()
      expect(doubts()).toBeGreaterThan(known)
    }, PATIENCE)
  })

  test('receives on after one of its handlers threw', async () => {
    const { notifications, heard } = await listener()
    await notifications.listen('croft_site', {
      onMessage: () => {
        throw new Error('no')
      },
      onGap: () => {},
    })
    await postgres.database.withSite('one', (tx) =>
      postgres.notifications.notify(tx, 'croft_site', { siteId: 'one', domains: [] }),
    )
    await say(1)
    await vi.waitFor(() => expect(heard).toHaveLength(1), PATIENCE)
  })

  test('that is disposed of while it reconnects ends at once', async () => {
    const { notifications } = await listener()
    await cutListeners()
    const start = performance.now()
    await notifications[Symbol.asyncDispose]()
    expect(performance.now() - start).toBeLessThan(3000)
  })
})
