import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'
import { portalOf } from '#test/operator.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { testCertificate } from '#test/test-certificate.ts'

const PATIENCE = { timeout: 40_000, interval: 50 }

let server: SmtpServer
let start: (on: 'bun' | 'node' | 'deno') => Promise<CroftProcess>
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  const certificate = await testCertificate()
  server = cleanUp.use(await SmtpServer.start({ certificate }))
  const folder = await mkdtemp(join(tmpdir(), 'croft-mail-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  const authority = join(folder, 'authority.pem')
  await writeFile(authority, certificate.authority)
  const env = {
    DATABASE_URL: cleanUp.use(await cloneDatabase()).url,
    SMTP_URL: `smtp://user:secret@localhost:${server.port}?starttls=required`,
    NODE_EXTRA_CA_CERTS: authority,
  }
  start = async (on) =>
    cleanUp.use(await CroftProcess.start({ dataDir: join(folder, 'data'), on, env }))
})
afterAll(() => cleanUp.disposeAsync())

describe.each(['deno', 'node', 'bun'] as const)('the service on %s', (on) => {
  test('delivers over an upgraded connection that it has verified', async () => {
    const croft = await start(on)
    await portalOf(croft).createSite(`${on}.test`)
    const taken = () => server.messages.find(({ to }) => to.includes(`ann@${on}.test`))
    await expect.poll(taken, PATIENCE).toMatchObject({
      from: `no-reply@${on}.test`,
      secure: true,
      login: '\0user\0secret',
    })
    expect(taken()?.data).toContain(`Subject: Your invitation to ${on}.test`)
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
    expect(croft.output).not.toContain('secret')
  })
})
