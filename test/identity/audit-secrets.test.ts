import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import { SECURITY_EVENTS } from '#identity/security-events/model.ts'
import { CognitoApp } from '#test/cognito-app.ts'
import { codeIn, linkIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const EMAIL = 'vic@one.test'
const PASSWORDS = ['First horse, 1 battery', 'Second horse, 2 staples', 'Third horse, 3 lamps']

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

/** An account from its sign-up to its end; gives every secret that came by. */
async function wholeLife(app: CognitoApp): Promise<string[]> {
  const [first = '', second = '', third = ''] = PASSWORDS
  const secrets = [...PASSWORDS]
  const named = { ClientId: app.clientId, Username: EMAIL }
  const signIn = async (PASSWORD: string): Promise<Record<string, string>> => {
    const answer = await app.initiate('USER_PASSWORD_AUTH', { USERNAME: EMAIL, PASSWORD })
    const tokens = answer.json.AuthenticationResult ?? {}
    secrets.push(
      ...Object.values(tokens)
        .filter((value) => String(value).length > 40)
        .map(String),
    )
    return tokens
  }
  await app.ok('SignUp', { ...named, Password: first })
  const proof = await mailTo(stack, EMAIL)
  const right = codeIn(proof)
  secrets.push(right)
  const wrong = right === '000000' ? '111111' : '000000'
  expect((await app.raw('ConfirmSignUp', { ...named, ConfirmationCode: wrong })).status).toBe(400)
  await app.ok('ConfirmSignUp', { ...named, ConfirmationCode: right })
  expect(
    (await app.initiate('USER_PASSWORD_AUTH', { USERNAME: EMAIL, PASSWORD: second })).status,
  ).toBe(400)
  const signedIn = await signIn(first)
  const refreshToken = signedIn['RefreshToken'] ?? ''
  const refresh = () => app.initiate('REFRESH_TOKEN_AUTH', { REFRESH_TOKEN: refreshToken })
  expect((await refresh()).status).toBe(200)
  await asSuperuser(stack, (sql) => sql`delete from refresh_response`)
  expect((await refresh()).status).toBe(400)
  await app.ok('ForgotPassword', named)
  const reset = codeIn(await mailTo(stack, EMAIL, undefined, proof))
  secrets.push(reset)
  await app.ok('ConfirmForgotPassword', { ...named, ConfirmationCode: reset, Password: second })
  const again = await signIn(second)
  await app.ok('ChangePassword', {
    AccessToken: again['AccessToken'],
    PreviousPassword: second,
    ProposedPassword: third,
  })
  const last = await signIn(third)
  await app.ok('RevokeToken', { ClientId: app.clientId, Token: last['RefreshToken'] })
  await app.ok('GlobalSignOut', { AccessToken: (await signIn(third))['AccessToken'] })
  return secrets
}

/** Also the beginning of a long one; six digits only as a word, for ids have digits too. */
const holds = (text: string, secret: string): boolean =>
  /^\d{6}$/.test(secret)
    ? new RegExp(`(?<![\\w-])${secret}(?![\\w-])`).test(text)
    : text.includes(secret.slice(0, 40))

describe('the audit trail', () => {
  test('tells the whole life of an account, and none of its secrets', async () => {
    const secrets = await wholeLife(await CognitoApp.of(stack, 'one.test'))
    const invite = new URL(linkIn(await mailTo(stack, 'ann@one.test', 'invite')))
    secrets.push(invite.searchParams.get('token') ?? '', stack.operatorKey)
    expect(secrets.length).toBeGreaterThan(12)

    const rows = await asSuperuser(stack, (sql) => sql`select * from security_event`)
    const kept = JSON.stringify(rows)
    const { json, text } = await stack.portal('GET', '/sites/one.test/audit?limit=100')
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(5)
      expect(holds(kept, secret)).toBe(false)
      expect(holds(text, secret)).toBe(false)
    }
    const seen = new Set(json.items.map(({ event }: { event: string }) => event))
    for (const event of [
      'sign-up.requested',
      'sign-up.confirmed',
      'code.failed',
      'sign-in.failed',
      'sign-in.succeeded',
      'refresh-token.replayed',
      'password.reset-requested',
      'password.reset',
      'password.changed',
      'sessions.revoked',
      'token.revoked',
      'settings.changed',
      'invite.sent',
    ]) {
      expect(seen).toContain(event)
    }
  })

  test('knows no event that nothing in the service records', async () => {
    const files = await readdir(join(installRoot(), 'src'), { recursive: true })
    const sources = await Promise.all(
      files
        .filter((file) => file.endsWith('.ts') && !file.endsWith('security-events/model.ts'))
        .map((file) => readFile(join(installRoot(), 'src', file), 'utf8')),
    )
    const code = sources.join('\n')
    expect(SECURITY_EVENTS.filter((event) => !code.includes(`'${event}'`))).toEqual([])
  })
})
