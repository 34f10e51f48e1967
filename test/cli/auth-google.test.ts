import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

let stack: Stack
let folder: string
let secret: string
beforeAll(async () => {
  stack = await startStack({ sites: ['one.test'] })
  folder = await mkdtemp(join(tmpdir(), 'croft-secret-'))
  secret = join(folder, 'secret')
  await writeFile(secret, 'GOCSPX-hidden\n')
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await stack[Symbol.asyncDispose]()
})

const google = (...args: string[]) =>
  croft(['auth', 'google', 'one.test', ...args], {
    CROFT_BASE_URL: stack.baseUrl('127.0.0.1'),
    CROFT_OPERATOR_KEY: stack.operatorKey,
  })

describe('croft auth google', () => {
  test('sets Google up, says what to register there, and never shows the secret', async () => {
    expect((await google()).out).toBe('one.test has no Google.\n')
    const set = await google('--client-id', 'id-1', '--client-secret-file', secret)
    expect(set).toMatchObject({ code: 0, err: '' })
    expect(set.out).toMatch(/client +id-1\n/)
    expect(set.out).toMatch(
      /redirect URI +http:\/\/one\.test:\d+\/oidc\/\S+\/oauth2\/idpresponse\n/,
    )
    expect(set.out).not.toContain('GOCSPX')
    const scopes = ['--scope', 'openid', '--scope', 'email', '--disable', '--json']
    expect(JSON.parse((await google(...scopes)).out)).toMatchObject({
      clientId: 'id-1',
      scopes: ['openid', 'email'],
      enabled: false,
    })
    expect((await google('--enable')).out).toMatch(/Google +on\n/)
    expect((await google()).out).toMatch(/scopes +openid email\n/)
    expect((await google('--remove')).out).toBe('one.test has no Google any more.\n')
    expect(await google('--remove')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Google'),
    })
  })

  test.each<[string[], string]>([
    [['--enable', '--disable'], 'exclude each other'],
    [['--remove', '--enable'], 'excludes other options'],
    [['--client-secret', 'x'], 'client-secret'],
  ])('(%j) called wrongly ends with 2 and says so', async (args, words) => {
    expect(await google(...args)).toMatchObject({ code: 2, err: expect.stringContaining(words) })
  })

  test('says which file it cannot read', async () => {
    const ran = await google('--client-id', 'x', '--client-secret-file', join(folder, 'none'))
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('cannot be read') })
  })
})
