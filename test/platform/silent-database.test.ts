import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { openQueue } from '#platform/queue/postgres-queue.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'
import { until } from '#test/tally.ts'
import { TcpProxy } from '#test/tcp-proxy.ts'

const POOL = 4
/** 2.5 s on a calm machine; a busy one gets more time. */
const FOUND_WITHIN_MS = 5000
const AWAY = { code: 'ServiceUnavailable', message: 'The database does not answer: try again' }
const LOST = {
  code: 'ServiceUnavailable',
  message: 'The connection to the database was lost: try again',
}

let cleanUp: AsyncDisposableStack
let proxy: TcpProxy
let postgres: PostgresPlatform
const logMethod = () => vi.fn<(fields: object, message: string) => void>()
const log = { ...silentLog, error: logMethod(), warn: logMethod(), info: logMethod() }
beforeEach(async () => {
  vi.clearAllMocks()
  cleanUp = new AsyncDisposableStack()
  const { url } = cleanUp.use(await cloneDatabase())
  proxy = cleanUp.use(await TcpProxy.start(url))
  postgres = await connectPostgres({
    url: proxy.url,
    log: log as unknown as typeof silentLog,
    poolSize: POOL,
  })
  cleanUp.use(postgres)
})
afterEach(() => cleanUp.disposeAsync())

const ping = (): Promise<string> => postgres.database.withSite('one', async () => 'pong')
const pingAll = (): Promise<string[]> => Promise.all(Array.from({ length: POOL }, ping))

const backend = (pid: number, signal: NodeJS.Signals): boolean => process.kill(pid, signal)

describe('a database that falls silent', () => {
  test('fails what waits for it, refuses the rest at once, and is served again when its address leads elsewhere', async () => {
    await pingAll()
    proxy.fallSilent()
    const waiting = Array.from({ length: 3 * POOL }, () => ping().catch((error: unknown) => error))
    const silentMs = performance.now()
    for (const fault of await Promise.all(waiting)) expect(fault).toMatchObject(AWAY)
    expect(performance.now() - silentMs).toBeLessThan(FOUND_WITHIN_MS)
    const askedMs = performance.now()
    await expect(ping()).rejects.toMatchObject(AWAY)
    await expect(postgres.statements('select 1', [])).rejects.toMatchObject(AWAY)
    expect(performance.now() - askedMs).toBeLessThan(500)
    proxy.leadElsewhere()
    await vi.waitFor(ping, { timeout: 20_000 })
    expect(await pingAll()).toEqual(Array(POOL).fill('pong'))
    expect(log.error.mock.calls.map(([, message]) => message)).toEqual([
      'the database does not answer',
    ])
    expect(log.info).toHaveBeenCalledWith(
      { awayMs: expect.any(Number) },
      'the database answers again',
    )
  })

  test('unnoticed, costs the next statement and no other, once its address leads elsewhere', async () => {
    await pingAll()
    proxy.fallSilent()
    proxy.leadElsewhere()
    await expect(ping()).rejects.toMatchObject(LOST)
    expect(await pingAll()).toEqual(Array(POOL).fill('pong'))
    expect(log.error).not.toHaveBeenCalled()
  })

  test('lets queues go on afterwards', async () => {
    const done: string[] = []
    const stop = new AbortController()
    const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
    queue.handle('site-cleanup', async ({ siteId }) => void done.push(siteId))
    const running = queue.run(stop.signal)
    const enqueue = (siteId: string): Promise<void> =>
      postgres.database.withSite(siteId, (tx) => queue.enqueue(tx, 'site-cleanup', { siteId }))
    await enqueue('one')
    await vi.waitFor(() => expect(done).toEqual(['one']))
    proxy.fallSilent()
    await expect(ping()).rejects.toMatchObject(AWAY)
    proxy.leadElsewhere()
    await vi.waitFor(() => enqueue('two'), { timeout: 20_000 })
    await vi.waitFor(() => expect(done).toEqual(['one', 'two']), { timeout: 30_000 })
    stop.abort()
    await running
  })
})

describe('a database that answers on no new connection', () => {
  const sleep = (seconds: number): Promise<unknown> =>
    postgres.database.withSite('one', (tx) => sql`select pg_sleep(${seconds})`.execute(tx.db))

  test('lives while connections that are open answer', async () => {
    await pingAll()
    proxy.silenceNew()
    const over = new AbortController()
    const slept = sleep(5).finally(() => over.abort())
    await until(over.signal, 50, async () => expect(await ping()).toBe('pong'))
    await slept
    expect(log.error).not.toHaveBeenCalled()
    expect(log.warn).not.toHaveBeenCalled()
  })

  test('lives while only its notifications answer', async () => {
    await postgres.notifications.listen('croft_site', { onMessage: () => {} })
    await pingAll()
    proxy.silenceNew()
    await Promise.all(Array.from({ length: POOL }, () => sleep(5)))
    expect(await pingAll()).toEqual(Array(POOL).fill('pong'))
    expect(log.error).not.toHaveBeenCalled()
  })

  test('is asked over an idle one about a connection whose server process hangs', async () => {
    await pingAll()
    const [row] = (await postgres.statements<{ pid: number }>('select pg_backend_pid() as pid', []))
      .rows
    const { pid = 0 } = row ?? {}
    proxy.silenceNew()
    backend(pid, 'SIGSTOP')
    try {
      const askedMs = performance.now()
      await expect(postgres.statements('select 1', [])).rejects.toMatchObject(LOST)
      expect(performance.now() - askedMs).toBeLessThan(FOUND_WITHIN_MS)
      expect(await pingAll()).toEqual(Array(POOL).fill('pong'))
      expect(log.error).not.toHaveBeenCalled()
    } finally {
      backend(pid, 'SIGCONT')
    }
  })
})

describe('a connection', () => {
  test('whose server process hangs is given up, alone', async () => {
    const [row] = (await postgres.statements<{ pid: number }>('select pg_backend_pid() as pid', []))
      .rows
    const { pid = 0 } = row ?? {}
    backend(pid, 'SIGSTOP')
    try {
      await expect(postgres.statements('select 1', [])).rejects.toMatchObject(LOST)
      await expect(postgres.statements('select 1', [])).resolves.toMatchObject({ rowCount: 1 })
      expect(await ping()).toBe('pong')
    } finally {
      backend(pid, 'SIGCONT')
    }
  })

  test('whose statement takes its time is left alone', async () => {
    const slept = postgres.database.withSite('one', (tx) =>
      sql<{ slept: string }>`select 'well' as slept from pg_sleep(2.5)`.execute(tx.db),
    )
    expect((await slept).rows).toEqual([{ slept: 'well' }])
    expect(log.warn).not.toHaveBeenCalled()
  })
})
