import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'
import { portalOf } from '#test/operator.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { SmtpServer } from '#test/smtp-server.ts'

const OPERATOR_KEY = randomBytes(32).toString('base64url')
/** A job of a dead worker is found after ten seconds of silence, looked for every five, tried again after five. */
const PATIENCE = { timeout: 50_000, interval: 50 }

let server: SmtpServer
let start: (roles: string) => Promise<CroftProcess>
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  server = cleanUp.use(await SmtpServer.start())
  const folder = await mkdtemp(join(tmpdir(), 'croft-mail-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  const env = {
    DATABASE_URL: cleanUp.use(await cloneDatabase()).url,
    CROFT_MASTER_KEY: randomBytes(32).toString('base64'),
    CROFT_OPERATOR_KEY: OPERATOR_KEY,
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
  }
  start = async (roles) =>
    cleanUp.use(
      await CroftProcess.start({
        dataDir: join(folder, 'data'),
        env: { ...env, CROFT_ROLES: roles },
      }),
    )
})
afterAll(() => cleanUp.disposeAsync())

const takenFor = (to: string) => server.messages.filter((message) => message.to.includes(to))

describe('a kill -9', () => {
  test('between commit and delivery loses no message', { timeout: 120_000 }, async () => {
    // A replica that takes requests and works no queue: what it commits, it cannot deliver.
    const api = await start('api')
    await portalOf(api, OPERATOR_KEY).createSite('kept.test')
    await api.kill()
    expect(takenFor('ann@kept.test')).toEqual([])
    const worker = await start('api,worker')
    await expect.poll(() => takenFor('ann@kept.test'), PATIENCE).toHaveLength(1)
    expect(takenFor('ann@kept.test')[0]?.data).toContain('Subject: Your invitation to kept.test')
    await worker.stop()
  })

  test(
    'between accepting a form and its delivery loses no message',
    { timeout: 120_000 },
    async () => {
      const api = await start('api')
      await portalOf(api, OPERATOR_KEY).createSite('form.test')
      const recipients = ['bob@form.test', 'eve@form.test']
      const added = await api.call({
        method: 'POST',
        path: '/portal/api/sites/form.test/contact-recipients',
        headers: { authorization: `Bearer ${OPERATOR_KEY}` },
        body: { recipients },
      })
      expect(added.status, added.text).toBe(200)
      const sent = await api.call({
        host: 'form.test',
        method: 'POST',
        path: '/admin/public/contact',
        body: { email: 'vic@example.org', message: 'Are you open?' },
      })
      expect(sent.status, sent.text).toBe(200)
      await api.kill()
      for (const to of recipients) expect(takenFor(to)).toEqual([])
      const worker = await start('api,worker')
      for (const to of recipients) {
        await expect.poll(() => takenFor(to), PATIENCE).toHaveLength(1)
        expect(takenFor(to)[0]?.data).toContain('Reply-To: vic@example.org')
      }
      await worker.stop()
    },
  )

  test('while the gateway reads sends the same message again', { timeout: 120_000 }, async () => {
    const seen: string[] = []
    server.answer = (verb, line) => {
      if (verb !== 'MESSAGE' || !line.includes('ann@cut.test')) return undefined
      seen.push(line)
      return seen.length === 1 ? 'stay silent' : undefined
    }
    const first = await start('api,worker')
    await portalOf(first, OPERATOR_KEY).createSite('cut.test')
    await expect.poll(() => seen, PATIENCE).toHaveLength(1)
    await first.kill()
    expect(takenFor('ann@cut.test')).toEqual([])
    const next = await start('api,worker')
    await expect.poll(() => takenFor('ann@cut.test'), PATIENCE).toHaveLength(1)
    expect(seen).toHaveLength(2)
    expect(seen[1]).toBe(seen[0])
    expect(seen[0]).toMatch(/^Message-ID: <msg_[a-z0-9]{16}@cut\.test>$/m)
    const exit = await next.stop()
    expect(exit).toEqual({ code: 0, signal: null })
    expect(next.output + first.output).not.toMatch(/token=|ann@cut\.test/)
  })
})
