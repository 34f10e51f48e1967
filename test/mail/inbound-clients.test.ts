import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'

import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { connectPostgres } from '#platform/postgres/postgres.ts'
import { CroftProcess, freePort } from '#test/croft-process.ts'
import { RawSmtp } from '#test/inbound-mail.ts'
import { portalOf } from '#test/operator.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Certificate, testCertificate } from '#test/test-certificate.ts'

const run = promisify(execFile)
const OPERATOR_KEY = randomBytes(32).toString('base64url')

describe.each(['bun', 'node'] as const)('a mail server on %s', (runtime) => {
  const cleanUp = new AsyncDisposableStack()
  let folder: string
  let port: number
  let croft: CroftProcess
  let certificate: Certificate
  let subjects: () => Promise<string[]>
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'croft-mail-clients-'))
    cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
    const { url } = cleanUp.use(await cloneDatabase())
    const { database } = cleanUp.use(await connectPostgres({ url, log: silentLog, poolSize: 2 }))
    certificate = await install(await testCertificate())
    port = await freePort()
    const env = {
      DATABASE_URL: url,
      CROFT_MASTER_KEY: randomBytes(32).toString('base64'),
      CROFT_OPERATOR_KEY: OPERATOR_KEY,
      CROFT_ROLES: 'api,mail',
      SMTP_PORT: String(port),
      SMTP_TLS_CERT: join(folder, 'cert.pem'),
      SMTP_TLS_KEY: join(folder, 'key.pem'),
    }
    const dataDir = join(folder, 'data')
    croft = cleanUp.use(await CroftProcess.start({ dataDir, env, on: runtime }))
    const portal = portalOf(croft, OPERATOR_KEY)
    const { siteId } = (await portal.createSite('mail.test')).json
    const ann = await portal.admin('mail.test')
    const { items } = (await ann('GET', '/admin/api/users')).json
    for (const name of ['info', 'jürgen']) {
      const body = { address: `${name}@mail.test`, owners: [items[0].userId] }
      await ann('POST', '/admin/api/mailboxes', body)
    }
    subjects = () =>
      database.withSite(siteId, async (tx) => {
        const rows = await tx.db.selectFrom('mail_message').select('subject').execute()
        return rows.map(({ subject }) => subject)
      })
  })
  afterAll(() => cleanUp.disposeAsync())

  async function install(made: Certificate): Promise<Certificate> {
    await writeFile(join(folder, 'key.pem'), made.key, { mode: 0o600 })
    await writeFile(join(folder, 'cert.pem'), made.cert)
    return made
  }

  const transport = (tls: object) => createTransport({ host: '127.0.0.1', port, ...tls })
  const verified = () => ({ requireTLS: true, tls: { ca: certificate.authority } })

  test.each([
    ['in the clear', () => ({ ignoreTLS: true })],
    ['over STARTTLS that it verifies', verified],
  ])('takes a message of nodemailer %s', async (how, tls) => {
    const subject = `nodemailer ${how}, ünïcode 日本`
    const client = transport(tls())
    const to = ['info+tag@mail.test', 'jürgen@mail.test']
    const { accepted } = await client.sendMail({ from: 'bob@a.test', to, subject, text: 'Hi' })
    client.close()
    expect(accepted).toEqual(to)
    expect((await subjects()).filter((each) => each === subject)).toHaveLength(2)
  })

  test.each([
    ['in the clear', []],
    ['over STARTTLS', ['--tls']],
  ])('takes a message of swaks %s', async (how, options) => {
    const subject = `swaks ${how}`
    const envelope = ['--from', 'bob@a.test', '--to', 'info@mail.test']
    const header = ['--header', `Subject: ${subject}`]
    const server = ['--server', '127.0.0.1', '--port', String(port)]
    const { stdout } = await run('swaks', [...server, ...envelope, ...header, ...options])
    expect(stdout).toMatch(/250 2\.6\.0 accepted/)
    expect(await subjects()).toContain(subject)
  })

  test('shows its certificate to openssl', async () => {
    const caFile = join(folder, 'ca.pem')
    await writeFile(caFile, certificate.authority)
    const options = ['-starttls', 'smtp', '-connect', `127.0.0.1:${port}`, '-CAfile', caFile]
    const client = run('openssl', ['s_client', ...options, '-verify_return_error'])
    client.child.stdin?.end('QUIT\r\n')
    expect((await client).stdout).toContain('Verify return code: 0 (ok)')
  })

  test('executes nothing that was sent in the clear behind STARTTLS', async () => {
    await using client = await RawSmtp.greeted(port)
    client.write('STARTTLS\r\nNOOP injected\r\n')
    expect(await client.reply()).toMatch(/^220 /)
    const secure = connectTls({
      socket: client.socket,
      ca: certificate.authority,
      host: 'localhost',
    })
    const said: string[] = []
    secure.setEncoding('latin1').on('data', (text: string) => said.push(text))
    await Promise.race([
      once(secure, 'secureConnect').then(() => secure.end('QUIT\r\n')),
      once(secure, 'error'),
    ])
    if (!secure.destroyed) await once(secure, 'close')
    expect(said.join('')).not.toContain('250')
  })

  test('shows another certificate once the files are others', async () => {
    const fingerprint = async (): Promise<string> => {
      await using client = await RawSmtp.greeted(port)
      await client.command('STARTTLS')
      const secure = connectTls({ socket: client.socket, rejectUnauthorized: false })
      await once(secure, 'secureConnect')
      return secure.getPeerCertificate().fingerprint256
    }
    const before = await fingerprint()
    // One that does not belong to its key is not taken.
    const next = await testCertificate()
    await writeFile(join(folder, 'cert.pem'), next.cert)
    await croft.printed('smtp certificate cannot be reloaded')
    expect(await fingerprint()).toBe(before)
    certificate = await install(next)
    await croft.printed('smtp certificate reloaded')
    expect(await fingerprint()).not.toBe(before)
    const client = transport(verified())
    expect(await client.verify()).toBe(true)
    client.close()
  })

  test('tells /readyz, and logs no address or text of a message', async () => {
    const { json } = await croft.call({ path: '/readyz' })
    expect(json.checks).toMatchObject({ smtp: 'ok' })
    const lines = croft.log.filter(({ msg }) => msg === 'message')
    expect(lines[0]).toMatchObject({ result: 'accepted', mailboxes: 2 })
    await croft.until('a connection is logged', () =>
      croft.log.some(({ msg, messages }) => msg === 'smtp connection' && messages === 1),
    )
    for (const secret of ['bob@a.test', 'info@mail.test', 'nodemailer in the clear']) {
      expect(croft.output).not.toContain(secret)
    }
  })
})

test('a mail server without a certificate makes one, and keeps it for itself', async () => {
  await using cleanUp = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'croft-mail-own-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  const { url } = cleanUp.use(await cloneDatabase())
  const dataDir = join(folder, 'data')
  const port = await freePort()
  const env = { DATABASE_URL: url, CROFT_ROLES: 'api,mail', SMTP_PORT: String(port) }
  const shown = async (): Promise<string> => {
    const croft = cleanUp.use(await CroftProcess.start({ dataDir, env }))
    await using client = await RawSmtp.greeted(port)
    await client.command('STARTTLS')
    const secure = connectTls({ socket: client.socket, rejectUnauthorized: false })
    await once(secure, 'secureConnect')
    const { fingerprint256 } = secure.getPeerCertificate()
    await croft.stop()
    return fingerprint256
  }
  const first = await shown()
  const file = join(dataDir, 'smtp-tls.pem')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toContain('PRIVATE KEY')
  expect(await shown()).toBe(first)
})
