import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'
import { type Answer, request, serverSentEvents } from '#test/http-client.ts'
import { portalOf } from '#test/operator.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { isRunning } from '#test/process-table.ts'

const SLOW = 'export default ({ payload }) => new Promise((go) => setTimeout(go, payload, "slow"))'

let cleanUp: AsyncDisposableStack
let croft: CroftProcess
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  const database = cleanUp.use(await cloneDatabase())
  const env = { DATABASE_URL: database.url }
  croft = cleanUp.use(await CroftProcess.start({ dataDir: join(folder, 'data'), env }))
  await croft.printed('croft site verify')
  await portalOf(croft).createOperation('localhost', 'slow', SLOW, 'admin@localhost')
  await croft.until('the operation is published', async () => (await slow(0)).status === 200)
})
afterEach(() => cleanUp.disposeAsync())

const slow = (ms: number): Promise<Answer> =>
  croft.call({ method: 'POST', path: '/data/public/slow', body: { payload: ms } })

async function logEvents(): Promise<AsyncGenerator> {
  const token = await portalOf(croft).token('localhost', 'admin@localhost')
  const headers = { authorization: `Bearer ${token}` }
  return serverSentEvents({
    port: croft.port,
    host: 'localhost',
    path: '/admin/data/logs?follow=true',
    headers,
  })
}

/** Clients that ask again as soon as they are answered, until they cannot connect. */
class Load {
  answered = 0
  readonly failures: string[] = []
  readonly done: Promise<unknown>
  readonly #agent = new Agent({ keepAlive: true })

  constructor(port: number) {
    const clients = Array.from({ length: 8 }, (_, client) => this.#ask(port, client))
    this.done = Promise.all(clients).finally(() => this.#agent.destroy())
  }

  async #ask(port: number, client: number): Promise<void> {
    // Every second answer comes from the cache, the others from a sandbox.
    for (let call = 0; ; call++) {
      const name = `${client} ${call >> 1}`
      const body = { payload: { name } }
      try {
        const call = { port, host: 'localhost', path: '/data/public/hello', method: 'POST', body }
        const { status, text } = await request({ ...call, agent: this.#agent })
        if (status !== 200 || !text.includes(`"Hello, ${name}!"`))
          this.failures.push(`${status} ${text}`)
        this.answered++
      } catch (error) {
        const code = String((error as { code?: unknown }).code)
        if (code !== 'ECONNREFUSED') this.failures.push(code)
        return
      }
    }
  }
}

describe('a service that is stopped', () => {
  test.each([
    ['by SIGTERM', () => croft.signal('SIGTERM')],
    [
      'by Ctrl-C in the terminal of "npm start", which passes on a second copy',
      () => {
        process.kill(-croft.pid, 'SIGINT')
        croft.signal('SIGINT')
      },
    ],
  ])('%s loses no request', async (_how, stop) => {
    const load = new Load(croft.port)
    const events = await logEvents()
    const ended = events.next()
    const held = slow(1500)
    const before = load.answered
    await expect.poll(() => load.answered, { timeout: 20_000 }).toBeGreaterThan(before + 300)
    croft.processes()
    stop()
    expect((await held).json).toEqual({ ok: true, data: 'slow' })
    expect((await ended).done).toBe(true)
    await load.done
    expect(load.failures).toEqual([])
    expect(await croft.ended()).toEqual({ code: 0, signal: null })
    expect(croft.leftovers()).toEqual([])
    expect(croft.log.filter(({ level }) => level !== 'info')).toEqual([])
  })

  test('twice ends at once', async () => {
    const hosts = croft.sandboxHosts()
    const held = slow(9000).catch((error: unknown) => error)
    await croft.hello('Ada')
    const startedAt = performance.now()
    croft.signal('SIGTERM')
    expect(await croft.signalUntilOver('SIGTERM', 10_000)).toBe(true)
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(await croft.ended()).toEqual({ code: 143, signal: null })
    expect(await held).toBeInstanceOf(Error)
    await expect.poll(() => hosts.filter(isRunning)).toEqual([])
  })
})
