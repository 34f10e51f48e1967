import { spawn } from 'node:child_process'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

const HOST = 'one.test'
const OTHER = 'two.test'

let stack: Stack
let pool: AdminPool
let ann: Member
beforeAll(async () => {
  stack = await startStack()
  pool = new AdminPool(stack, HOST)
  ann = await pool.first()
})
afterAll(() => stack[Symbol.asyncDispose]())

const envOf = ({ operatorKey, port }: Stack) => ({
  CROFT_BASE_URL: `http://127.0.0.1:${port}`,
  CROFT_OPERATOR_KEY: operatorKey,
})
const run = (...args: string[]) => croft(args, envOf(stack))
const users = (...args: string[]) => run('users', HOST, '--pool', 'admin', ...args)
const lastEvent = async (userId: string) =>
  (await stack.portal('GET', `/sites/${HOST}/audit?sub=${userId}`)).json.items[0]

describe('croft users --pool admin', () => {
  test('lists the admins of the site, finds some, and shows one', async () => {
    const adam = await pool.joined('admin')
    const listed = JSON.parse((await users('--json')).out)
    expect(listed.items).toContainEqual({
      userId: adam.userId,
      email: adam.email,
      role: 'admin',
      externalEmail: null,
      status: 'ACTIVE',
    })
    expect((await users('--search', 'ann')).out).toBe(`ann@${HOST}  INVITED  super-admin\n`)
    expect((await users('--search', 'nix')).out).toBe('No such admin.\n')
    const shown = await users('--show', adam.email.toUpperCase())
    expect(shown.out).toMatch(/role +admin\n/)
    expect(shown.out).toContain(adam.userId)
    expect((await run('users', HOST)).out).not.toContain(adam.email)
  })

  test('signs one out everywhere, for every replica', async () => {
    const adam = await pool.joined('admin')
    await using beside = await startStack({ beside: stack })
    expect((await adam.call('GET', '/users')).status).toBe(200)
    expect(await users('--sign-out', adam.email)).toMatchObject({
      code: 0,
      out: `${adam.email} is signed out everywhere.\n`,
    })
    expect((await adam.call('GET', '/users')).status).toBe(401)
    const { token } = adam
    expect((await beside.call(HOST, 'GET', '/admin/api/users', { token })).status).toBe(401)
    expect(await lastEvent(adam.userId)).toMatchObject({
      event: 'sessions.revoked',
      actor: 'operator',
    })
  })

  test('deletes one when the operator agrees, with an entry in the audit trail', async () => {
    const adam = await pool.joined('admin')
    expect(await users('--delete', adam.email)).toMatchObject({
      code: 2,
      err: expect.stringContaining('permanently: add --yes'),
    })
    expect((await adam.call('GET', '/users')).status).toBe(200)
    expect(await users('--delete', adam.email, '--yes')).toMatchObject({ code: 0 })
    expect((await adam.call('GET', '/users')).status).toBe(401)
    expect(await lastEvent(adam.userId)).toMatchObject({
      event: 'user.deleted',
      actor: 'operator',
      pool: 'admin',
      detail: { role: 'admin' },
    })
    await using after = await startStack({ beside: stack })
    const gone = await croft(['users', HOST, '--pool', 'admin', '--show', adam.email], envOf(after))
    expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('No admin of the site') })
  })

  test('keeps the last super-admin who can sign in', async () => {
    expect(await users('--delete', ann.email, '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('LastSuperAdmin'),
    })
    expect((await ann.call('GET', '/users')).status).toBe(200)
  })

  test.each(['--disable', '--enable', '--status'])(
    'refuses %s, which admins have not',
    async (o) => {
      const value = o === '--status' ? 'ACTIVE' : ann.email
      expect(await users(o, value)).toMatchObject({ code: 2 })
    },
  )

  test('knows no admin of another site', async () => {
    const adam = await pool.joined('admin')
    for (const option of ['--show', '--sign-out', '--delete']) {
      const ran = await run('users', OTHER, '--pool', 'admin', option, adam.email, '--yes')
      expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('No admin of the site') })
    }
    const path = `/sites/${OTHER}/admin-users/${adam.userId}`
    for (const [method, at] of [
      ['GET', path],
      ['DELETE', `${path}/sessions`],
      ['DELETE', path],
    ] as const) {
      const answer = await stack.portal(method, at)
      expect([answer.status, answer.json.error.code]).toEqual([404, 'UserNotFound'])
    }
    expect((await adam.call('GET', '/users')).status).toBe(200)
  })

  test('is for the operator alone', async () => {
    const path = `/portal/api/sites/${HOST}/admin-users/${ann.userId}`
    for (const token of [undefined, ann.token, await stack.dataToken(HOST)]) {
      expect((await stack.call(HOST, 'DELETE', path, { token })).status).toBe(401)
    }
  })
})

describe('croft users --delete', () => {
  test('deletes no visitor without --yes where there is no terminal', async () => {
    await stack.dataToken(HOST, { user: 'vic@example.org' })
    expect(await run('users', HOST, '--delete', 'vic@example.org')).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        'this deletes the account of "vic@example.org" permanently: add',
      ),
    })
    expect(await run('users', HOST, '--show', 'vic@example.org')).toMatchObject({ code: 0 })
  })

  test.each([
    ['yes', 'is deleted', 'No visitor of the site'],
    ['no', 'Nothing was changed', 'ACTIVE'],
  ])('asks at a terminal, where %s is answered', async (answer, said, then) => {
    const email = `asked-${answer}@example.org`
    await stack.dataToken(HOST, { user: email })
    const command = `${process.execPath} ${join(installRoot(), 'bin/croft.js')} users ${HOST} --delete ${email}`
    expect(await atTerminal(command, 'to go on: ', answer)).toContain(said)
    const shown = await run('users', HOST, '--show', email)
    expect(shown.out + shown.err).toContain(then)
  })
})

/** What the program shows at a terminal, where its question gets that answer. */
async function atTerminal(command: string, question: string, answer: string): Promise<string> {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...envOf(stack), PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  let isAsked = false
  for await (const chunk of child.stdout) {
    shown += String(chunk)
    if (isAsked || !shown.includes(question)) continue
    isAsked = true
    child.stdin.write(`${answer}\r`)
  }
  return shown
}
