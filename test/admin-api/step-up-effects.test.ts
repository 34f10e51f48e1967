import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { isChanging, routeRows } from '#test/route-table.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const HOST = 'one.test'
const MINUTE_MS = 60_000
const REFUSED = { status: 403, json: { error: { code: 'RecentSignInRequired' } } }

let stack: Stack
let stale: string
let fresh: string
let bob: Member
beforeAll(async () => {
  stack = await startStack({ sites: [HOST, 'two.test'] })
  await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
  bob = await new AdminPool(stack, HOST).joined('admin')
  stale = await signedIn('admin', 16)
  fresh = await signedIn('admin', 1)
})
afterAll(() => stack[Symbol.asyncDispose]())

/** A token of a sign-in that long ago: of the site's super-admin, or of a visitor. */
async function signedIn(pool: 'admin' | 'data', minutesAgo: number): Promise<string> {
  const party = await RelyingParty.of(stack, HOST, pool)
  const authTime = new Date(Date.now() - minutesAgo * MINUTE_MS)
  const email = pool === 'admin' ? `ann@${HOST}` : `visitor@${HOST}`
  const { code } = await party.signIn(await party.user(email), { authTime })
  return (await party.exchange(code)).json.access_token
}

const call = (token: string, method: string, path: string, body?: unknown) =>
  stack.call(HOST, method, path, { token, ...(body !== undefined && { body }) })

const shown = ({ status, text }: { readonly status: number; readonly text: string }) => ({
  status,
  text,
})

describe('a sign-in of more than 15 minutes ago', () => {
  test('is refused by each route that always has an effect, before the body is read', async () => {
    const [staleVisitor, freshVisitor] = [await signedIn('data', 16), await signedIn('data', 1)]
    const tokensOf = (authority: string) =>
      authority === 'visitor' ? [staleVisitor, freshVisitor] : [stale, fresh]
    const rows = routeRows(stack.app.routes).filter(
      ({ authority = '', effects = [], proof }) =>
        (authority.startsWith('role:') || authority === 'visitor') &&
        effects.some((effect) => !effect.endsWith('?')) &&
        proof === undefined,
    )
    expect(rows.length).toBeGreaterThan(15)
    for (const { name, method, path, authority = '' } of rows) {
      const [old = '', recent = ''] = tokensOf(authority)
      const at = path.replaceAll(/:\w+/g, 'none')
      const refused = await call(old, method, at, '{"broken')
      expect(shown(refused), name).toMatchObject({
        status: 403,
        text: expect.stringContaining('"RecentSignInRequired"'),
      })
      const { text } = await call(recent, method, at, '{"broken')
      expect(text, name).not.toContain('RecentSignInRequired')
    }
  })

  test('does on every other route what a recent one does', async () => {
    const rows = routeRows(stack.app.routes).filter(
      (row) =>
        isChanging(row) && row.authority?.startsWith('role:') && (row.effects ?? []).length === 0,
    )
    expect(rows.length).toBeGreaterThan(40)
    for (const { name, method, path } of rows) {
      const { text } = await call(stale, method, path.replaceAll(/:\w+/g, 'none'), '{"broken')
      expect(text, name).not.toContain('RecentSignInRequired')
    }
  })

  test('has its requests distinguished on the routes whose effects depend on them', () => {
    const names = routeRows(stack.app.routes)
      .filter(
        ({ authority = '', effects = [] }) =>
          authority.startsWith('role:') && effects.some((effect) => effect.endsWith('?')),
      )
      .map(({ name }) => name)
    // Each has its own test below.
    expect(names).toEqual([
      'PUT /admin/api/profile',
      'POST /admin/api/users',
      'PUT /admin/api/users/:userId/profile',
      'POST /admin/data/iac/jobs',
    ])
  })

  test.each(['primaryEmail', 'externalEmail'])(
    'moves no account to another %s, but changes settings',
    async (field) => {
      for (const path of ['/admin/api/profile', `/admin/api/users/${bob.userId}/profile`]) {
        const { json: before } = await call(fresh, 'GET', path)
        const body = { [field]: `thief-${randomUUID()}@out.test` }
        expect(await call(stale, 'PUT', path, body)).toMatchObject(REFUSED)
        expect((await call(fresh, 'GET', path)).json).toEqual(before)
        const unchanged = { primaryEmail: before.primaryEmail, settings: { at: field } }
        expect(shown(await call(stale, 'PUT', path, unchanged))).toMatchObject({ status: 200 })
      }
    },
  )

  test('makes users, and no admins', async () => {
    const invite = (role: string) =>
      call(stale, 'POST', '/admin/api/users', { email: `${randomUUID()}@${HOST}`, role })
    expect(shown(await invite('user'))).toMatchObject({ status: 200 })
    expect(await invite('admin')).toMatchObject(REFUSED)
    expect(await invite('super-admin')).toMatchObject(REFUSED)
  })

  test.each([
    ['a mailbox at the address of an account', 'POST', () => ['/mailboxes', boxOf(bob.email)]],
    ['an alias for one', 'PUT', () => [`/aliases/new@${HOST}`, { targets: [`box@${HOST}`] }]],
    ['its copy elsewhere', 'POST', () => [`/mailboxes/box@${HOST}/forwarding-targets`, TARGETS]],
    ['its owners', 'PATCH', () => [`/mailboxes/box@${HOST}`, { owners: [bob.userId] }]],
    ['the contact form', 'POST', () => ['/contact-recipients', { recipients: ['x@out.test'] }]],
    [
      'what codes look like',
      'PUT',
      () => ['/auth-email-branding', { adminVerificationEmail: null }],
    ],
  ] satisfies [string, string, () => [string, object]][])(
    'moves no mail by %s',
    async (_what, method, request) => {
      await stack.portal('POST', `/sites/${HOST}/mailboxes`, boxOf(`box@${HOST}`))
      const [path, body] = request()
      const at = `/admin/api${path}`
      expect(await call(stale, method, at, body)).toMatchObject(REFUSED)
      expect(shown(await call(fresh, method, at, body))).toMatchObject({ status: 200 })
    },
  )
})

const TARGETS = { targets: ['copy@out.test'] }
const boxOf = (address: string) => ({ address, owners: [`ann@${HOST}`] })

describe('a definition that a stale token sends', () => {
  const JOBS = '/admin/data/iac/jobs'
  const variable = (value: string) => ({
    envVars: [
      { name: 'KEY', value, secret: true },
      { name: 'MODE', value: 'a' },
    ],
  })
  const submit = (token: string, body: object) => call(token, 'POST', JOBS, body)
  const names = async () => {
    const { json } = await call(fresh, 'GET', '/admin/data/env-vars')
    return json.items.map(({ name }: { readonly name: string }) => name)
  }

  /** The id of its job, which has ended. */
  async function done(token: string, body: object) {
    const answer = await submit(token, body)
    expect(shown(answer), JSON.stringify(body)).toMatchObject({ status: 200 })
    await expect
      .poll(async () => (await call(fresh, 'GET', `${JOBS}/${answer.json.jobId}`)).json.status)
      .toBe('succeeded')
    return answer.json.jobId as string
  }

  test('sets no variable, changes none and clears none', async () => {
    const sets = { mode: 'apply', definition: variable('secret-1') }
    expect(await submit(stale, sets)).toMatchObject(REFUSED)
    expect(await names()).toEqual([])
    await done(fresh, sets)
    for (const body of [
      { mode: 'apply', definition: variable('secret-2') },
      { mode: 'apply', definition: { envVars: [{ name: 'MODE', value: 'b' }] } },
      { mode: 'replace', definition: { envVars: [] }, confirm: true },
    ]) {
      expect(await submit(stale, body), JSON.stringify(body)).toMatchObject(REFUSED)
    }
    expect(await names()).toEqual(['KEY', 'MODE'])
    const { json } = await call(fresh, 'GET', JOBS)
    expect(json.items).toHaveLength(1)
  })

  test('may be a plan, leave variables as they are, or name none', async () => {
    await done(fresh, { mode: 'apply', definition: variable('secret-1') })
    for (const body of [
      { mode: 'plan', definition: variable('secret-3') },
      { mode: 'apply', definition: { envVars: [{ name: 'MODE', value: 'a' }, { name: 'KEY' }] } },
      { mode: 'apply', definition: { groups: [{ groupName: 'staff' }] } },
    ]) {
      expect(await done(stale, body)).toEqual(expect.any(String))
    }
  })

  test('may not be a kept one that sets a variable', async () => {
    const definition = { envVars: [{ name: 'KEPT', value: 'b' }] }
    const kept = await call(stale, 'PUT', '/admin/data/iac/definitions/kept', { definition })
    expect(shown(kept)).toMatchObject({ status: 200 })
    const body = { mode: 'apply', definitionProfileName: 'kept' }
    expect(await submit(stale, body)).toMatchObject(REFUSED)
    expect(await names()).not.toContain('KEPT')
    expect(shown(await submit(fresh, body))).toMatchObject({ status: 200 })
  })

  test('names no variable behind other jobs, which may change it', async () => {
    const definition = variable('secret-1')
    const jobId = await done(fresh, { mode: 'apply', definition })
    const setStatus = (status: string) =>
      asSuperuser(
        stack,
        (sql) => sql`update iac_job set status = ${status} where job_id = ${jobId}`,
      )
    await setStatus('running')
    expect(await submit(stale, { mode: 'apply', definition })).toMatchObject(REFUSED)
    await setStatus('succeeded')
  })

  test('is a program’s with a deploy token of the scope "iac", however old', async () => {
    const made = await call(fresh, 'POST', '/admin/api/deploy-tokens', {
      name: 'ci',
      scopes: ['iac'],
    })
    const { token } = made.json
    const definition = { envVars: [{ name: 'CI_KEY', value: 'c', secret: true }] }
    const answer = await call(token, 'POST', `/portal/api/sites/${HOST}/iac/jobs`, {
      mode: 'apply',
      definition,
    })
    expect(shown(answer)).toMatchObject({ status: 200 })
    await expect.poll(names).toContain('CI_KEY')
  })
})
