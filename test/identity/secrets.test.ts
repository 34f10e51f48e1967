import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createLogger } from '#platform/log/create-logger.ts'
import { asAdmin } from '#test/postgres.ts'
import { type Stack, startStack } from '#test/stack.ts'

const lines: string[] = []
let stack: Stack
beforeAll(async () => {
  const logger = createLogger({ logLevel: 'trace' }, { write: (line) => lines.push(line) })
  stack = await startStack({ logger })
})
afterAll(() => stack[Symbol.asyncDispose]())

/** What may be neither said nor logged, as stored. */
async function sealedBytes(): Promise<Buffer[]> {
  const secrets: Buffer[] = []
  await asAdmin(async (admin) => {
    const rows = await admin<{ secret: Buffer }[]>`
      select sealed_private as secret from signing_key
      union all select wrapped_key from site_key
      union all select token_hash from user_invite`
    secrets.push(...rows.map((row) => row.secret))
  }, stack.database.url)
  return [...secrets, stack.masterKey]
}

function expectWithout(text: string, secrets: readonly Buffer[]): void {
  for (const secret of secrets) {
    for (const form of ['base64', 'base64url', 'hex'] as const) {
      expect(text.includes(secret.subarray(0, 24).toString(form))).toBe(false)
    }
  }
  expect(text).not.toMatch(/"(?:d|p|q|dp|dq|qi)":|PRIVATE KEY/)
}

describe('tokens and keys', () => {
  test('leave no secret in an answer, and no token, link or key in the log', async () => {
    const created = await stack.portal('POST', '/sites', {
      domain: 'three.test',
      sourceMode: 'SITE_GIT',
      repoBinding: { branch: 'main', artifactDirectory: 'dist' },
      superAdmins: ['ann@three.test'],
    })
    expect(created.json).toMatchObject({ onboarding: [{ email: 'ann@three.test' }] })
    const invite = new URL(created.json.onboarding[0].url).searchParams.get('token') ?? ''
    const minted = await stack.portal('POST', '/sites/three.test/tokens', {
      user: 'ann@three.test',
    })
    // Makes the keys of other sites, too.
    for (const site of ['one.test', 'two.test']) {
      await stack.portal('POST', `/sites/${site}/tokens`, { user: `ann@${site}` })
    }
    const { auth } = (await stack.call('three.test', 'GET', '/admin/public/config')).json
    const wellKnown = `/oidc/${auth.userPoolId}/.well-known`
    const token: string = minted.json.token

    const answers = [
      minted,
      await stack.portal('POST', '/sites/three.test/keys/rotate'),
      await stack.portal('GET', '/sites/three.test'),
      await stack.call('three.test', 'GET', '/admin/public/config'),
      await stack.call('three.test', 'GET', '/data/auth/config'),
      await stack.call('three.test', 'GET', `${wellKnown}/openid-configuration`),
      await stack.call('three.test', 'GET', `${wellKnown}/jwks.json`),
    ]
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200))
    for (const wrong of [token, `${token}x`]) {
      await stack.call('one.test', 'GET', '/admin/data/resources', { token: wrong })
      await stack.call('one.test', 'POST', '/data/hello', { token: wrong, body: {} })
    }

    const secrets = await sealedBytes()
    expect(secrets.length).toBeGreaterThan(10)
    const said = answers.map(({ headers, text }) => JSON.stringify(headers) + text).join('\n')
    expectWithout(said, secrets)
    const logged = lines.join('')
    expect(logged).toContain('three.test')
    expectWithout(logged, secrets)
    for (const secret of [token, token.slice(-40), invite, stack.operatorKey]) {
      expect(secret.length).toBeGreaterThan(20)
      expect(logged.includes(secret)).toBe(false)
    }
  })
})
