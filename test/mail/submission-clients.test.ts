import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type CroftProcess, freePort } from '#test/croft-process.ts'
import { type KillableService, killableService } from '#test/killable-service.ts'
import { portalOf } from '#test/operator.ts'
import { SmtpServer } from '#test/smtp-server.ts'

const run = promisify(execFile)
const PATIENCE = { timeout: 30_000, interval: 20 }
const SITES = ['one.test', 'two.test']

interface Login {
  readonly username: string
  readonly password: string
}

const cleanUp = new AsyncDisposableStack()
const port = await freePort()
let gateway: SmtpServer
let service: KillableService
let croft: CroftProcess
let folder: string
/** By site. */
const logins = new Map<string, Login>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-submission-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  gateway = cleanUp.use(await SmtpServer.start())
  service = await killableService(cleanUp, {
    SMTP_URL: `smtp://127.0.0.1:${gateway.port}`,
    SUBMISSION_PORT: String(port),
  })
  croft = await service.start()
  const portal = portalOf(croft, service.operatorKey)
  for (const site of SITES) {
    await portal.createSite(site)
    const ann = await portal.admin(site)
    const { items } = (await ann('GET', '/admin/api/users')).json
    const address = `info@${site}`
    await ann('POST', '/admin/api/mailboxes', { address, owners: [items[0].userId] })
    const path = `/admin/api/mailboxes/${address}/submission-credentials`
    logins.set(site, (await ann('POST', path, { name: 'A mail program' })).json)
  }
})
afterAll(() => cleanUp.disposeAsync())

const loginOf = (site: string): Login => {
  const login = logins.get(site)
  if (!login) throw new Error(`No client writes from ${site}`)
  return login
}
const taken = (subject: string) =>
  vi.waitFor(() => {
    const found = gateway.messages.filter(({ data }) => data.includes(`Subject: ${subject}\r\n`))
    expect(found, subject).not.toHaveLength(0)
    return found
  }, PATIENCE)

/** How outside programs hand a message in. Each resolves once it was accepted. */
const CLIENTS: Readonly<Record<string, (site: string, subject: string) => Promise<unknown>>> = {
  'swaks with PLAIN': (site, subject) => swaks(site, subject, 'PLAIN'),
  'swaks with LOGIN': (site, subject) => swaks(site, subject, 'LOGIN'),
  curl: async (site, subject) => {
    const { username, password } = loginOf(site)
    const file = join(folder, `${randomBytes(4).toString('hex')}.eml`)
    await writeFile(
      file,
      `From: ${username}\r\nTo: vic@else.test\r\nSubject: ${subject}\r\n\r\nHi\r\n`,
    )
    const envelope = [
      '--mail-from',
      username,
      '--mail-rcpt',
      'vic@else.test',
      '--upload-file',
      file,
    ]
    const login = ['--ssl-reqd', '--insecure', '--user', `${username}:${password}`]
    return run('curl', [
      '--silent',
      '--show-error',
      `smtp://127.0.0.1:${port}`,
      ...login,
      ...envelope,
    ])
  },
  nodemailer: async (site, subject) => {
    const { username: user, password: pass } = loginOf(site)
    const tls = { requireTLS: true, tls: { rejectUnauthorized: false } }
    const client = createTransport({ host: '127.0.0.1', port, auth: { user, pass }, ...tls })
    await client.sendMail({ from: user, to: 'vic@else.test', subject, text: 'Hi' })
    client.close()
  },
}

function swaks(site: string, subject: string, method: string) {
  const { username, password } = loginOf(site)
  const server = ['--server', '127.0.0.1', '--port', String(port), '--tls']
  const login = ['--auth', method, '--auth-user', username, '--auth-password', password]
  const message = ['--from', username, '--to', 'vic@else.test', '--header', `Subject: ${subject}`]
  return run('swaks', [...server, ...login, ...message])
}

describe.each(Object.keys(CLIENTS))('%s', (name) => {
  test.each(SITES)('sends from a mailbox of %s', async (site) => {
    const subject = `${name} from ${site}`
    await CLIENTS[name]?.(site, subject)
    const [message, ...others] = await taken(subject)
    expect(others).toEqual([])
    expect(message).toMatchObject({ from: `info@${site}`, to: ['vic@else.test'] })
    expect(message?.data).toMatch(new RegExp(`^DKIM-Signature: [^;]*;[^;]*;[^;]*;\\s*d=${site};`))
  })
})

test('swaks is sent away with the password of another site', async () => {
  const [one, two] = SITES.map(loginOf)
  logins.set('mixed', { username: one?.username ?? '', password: two?.password ?? '' })
  await expect(swaks('mixed', 'Mixed', 'PLAIN')).rejects.toMatchObject({
    stdout: expect.stringContaining('535 5.7.8'),
  })
})

test('what was accepted is sent after the service was killed', async () => {
  gateway.answer = (verb) => (verb === 'RCPT' ? '451 4.3.0 later' : undefined)
  for (let count = 0; count < 5; count += 1) {
    await swaks(SITES[count % 2] ?? '', `Killed ${count}`, 'PLAIN')
  }
  await croft.kill()
  gateway.answer = () => undefined
  croft = await service.start()
  for (let count = 0; count < 5; count += 1) {
    expect(await taken(`Killed ${count}`)).toHaveLength(1)
  }
  await CLIENTS['curl']?.('one.test', 'After the restart')
  await taken('After the restart')
  expect((await croft.call({ path: '/readyz' })).json.checks).toMatchObject({ submission: 'ok' })
})

test('no log line has a password, a recipient or a subject', () => {
  for (const { password } of logins.values()) {
    for (const secret of [password, Buffer.from(password).toString('base64')]) {
      expect(croft.output).not.toContain(secret)
    }
  }
  expect(croft.output).not.toContain('vic@else.test')
  expect(croft.output).not.toContain('After the restart')
})
