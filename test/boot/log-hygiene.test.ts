import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess, freePort } from '#test/croft-process.ts'
import { hiddenFields } from '#test/form-browser.ts'
import { portalOf } from '#test/operator.ts'
import { type TestDatabase, cloneDatabase } from '#test/postgres.ts'

const OPERATOR_KEY = `operator-${randomBytes(16).toString('hex')}`
const MASTER_KEY = randomBytes(32).toString('base64')
const PAYLOAD = `payload-${randomBytes(16).toString('hex')}`
const PASSWORD = `Aa1!${randomBytes(16).toString('hex')}`
const FAILING = 'export default ({ payload }) => { console.log(payload); throw new Error(payload) }'

let database: TestDatabase
let croft: CroftProcess
const secrets: Record<string, string> = {}
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'croft-boot-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  database = cleanUp.use(await cloneDatabase())
  const env = {
    DATABASE_URL: database.url,
    // No server listens there: its log lines may not carry its password.
    REDIS_URL: `redis://:redis-password@127.0.0.1:${await freePort()}`,
    CROFT_OPERATOR_KEY: OPERATOR_KEY,
    CROFT_MASTER_KEY: MASTER_KEY,
    CROFT_LOG_LEVEL: 'trace',
  }
  croft = cleanUp.use(await CroftProcess.launch({ dataDir: join(folder, 'data'), env }))
  await croft.printed('croft site verify')
  Object.assign(secrets, await use(croft))
  await croft.stop()
})
afterAll(() => cleanUp.disposeAsync())

/** Goes where secrets are handled, in order and not; gives those that came out on the way. */
async function use(running: CroftProcess): Promise<Record<string, string>> {
  const portal = portalOf(running, OPERATOR_KEY)
  const created = (await portal.createSite('shop.test')).json
  const token = await portal.token('shop.test', 'ann@shop.test')
  await portal.createOperation('shop.test', 'fail', FAILING)
  const post = (path: string, bearer: string, body: unknown) =>
    running.call({
      host: 'shop.test',
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${bearer}`, cookie: `session=${PAYLOAD}` },
      body,
    })
  const fail = () => post('/data/public/fail', token, { payload: PAYLOAD })
  await running.until('the operation is published', async () => (await fail()).status === 500)
  await post('/admin/data/compute/execute', token, {
    code: `module.exports = () => { throw new Error("${PAYLOAD}") }`,
  })
  await post('/admin/data/resources', token, `{"broken": "${PAYLOAD}`)
  await post('/admin/data/resources', `${token}x`, {})
  await post(`/portal/api/sites?token=${PAYLOAD}`, OPERATOR_KEY.slice(0, -1), {})
  await post(`/no/such/route?token=${PAYLOAD}`, OPERATOR_KEY, {})
  const onboarding = new URL(created.onboarding[0].url)
  await takeInvite(running, onboarding)
  return {
    token,
    onboarding: onboarding.searchParams.get('token') ?? '',
    signature: token.split('.')[2] ?? '',
  }
}

/** As a browser would: the link, then the form with its cookie and its token. */
async function takeInvite(running: CroftProcess, { pathname, search }: URL): Promise<void> {
  const page = await running.call({ host: 'shop.test', path: `${pathname}${search}` })
  const fields = { ...hiddenFields(page.text), password: PASSWORD, confirmPassword: PASSWORD }
  const taken = await running.call({
    host: 'shop.test',
    method: 'POST',
    path: pathname,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      cookie: page.headers['set-cookie']?.split(';')[0] ?? '',
    },
    body: new URLSearchParams(fields).toString(),
  })
  if (taken.status !== 200) throw new Error(`The invite was not taken: ${taken.text}`)
}

describe('everything that a run prints, traces included,', () => {
  test.each([
    ['the operator key', () => OPERATOR_KEY.slice(0, -1)],
    ['the master key', () => MASTER_KEY],
    ['the master key in base64url', () => Buffer.from(MASTER_KEY, 'base64').toString('base64url')],
    ['the master key in hex', () => Buffer.from(MASTER_KEY, 'base64').toString('hex')],
    ['the password of the database', () => new URL(database.url).password],
    ['the password of Redis', () => 'redis-password'],
    ['the token of an admin', () => secrets['token']],
    ['the signature of a token', () => secrets['signature']],
    ['the token of an invite that was taken', () => secrets['onboarding']],
    ['the password that was set', () => PASSWORD],
    ['what a visitor sent', () => PAYLOAD],
  ])('holds nothing of %s', (_what, secret) => {
    expect(secret()?.length).toBeGreaterThan(8)
    expect(croft.output).not.toContain(secret())
  })

  test('is a log of whole lines, in which no name comes twice', () => {
    const lines = croft.output.split('\n').filter((line) => line.startsWith('{'))
    expect(lines.length).toBeGreaterThan(10)
    for (const line of lines) expect(JSON.stringify(JSON.parse(line))).toBe(line)
  })
})
