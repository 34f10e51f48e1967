import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { SYSTEM } from '#base/actor.ts'
import type { Answer } from '#test/http-client.ts'
import { RelyingParty, type Tokens } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const ROUNDS = 8

let stack: Stack
let second: Stack
let client: RelyingParty
let there: RelyingParty
beforeAll(async () => {
  stack = await startStack()
  second = await startStack({ beside: stack })
  client = await RelyingParty.of(stack, 'one.test')
  there = await client.at(second)
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

/** Whether anything that an answer gave still works, anywhere. */
async function lives(answer: Answer): Promise<boolean> {
  if (answer.status !== 200) return false
  const { access_token, refresh_token } = answer.json as Tokens
  const renewed = await client.refresh(refresh_token)
  return renewed.status === 200 || (await client.isTaken(access_token))
}

const signOut = (sub: string) =>
  second.inSite('one.test', (tx) =>
    second.context.signOut.everywhere(tx, client.pool, sub, { by: SYSTEM }),
  )

describe.each(Array.from({ length: ROUNDS }, (_, round) => round))('round %i:', (round) => {
  const email = `race-${round}@example.org`

  test('an exchange that meets a sign-out everywhere leaves nothing behind', async () => {
    const { sub, code } = await started(email)
    const [answer] = await Promise.all([client.exchange(code), signOut(sub)])
    expect(await lives(answer)).toBe(false)
  })

  test('a refresh that meets a sign-out everywhere leaves nothing behind', async () => {
    const { refresh_token: token } = await client.tokens(email)
    const sub = await client.user(email)
    const [answer] = await Promise.all([client.refresh(token), signOut(sub)])
    expect(await lives(answer)).toBe(false)
  })

  test('a sign-in that meets a sign-out everywhere is refused, or ends with it', async () => {
    const sub = await client.user(email)
    const authTime = new Date()
    const [signIn] = await Promise.all([
      client.signIn(sub, { authTime }).catch(() => undefined),
      signOut(sub),
    ])
    const answer = signIn && (await client.exchange(signIn.code))
    expect(answer === undefined || !(await lives(answer))).toBe(true)
    const cookie = signIn?.cookie ?? 'croft_session=none'
    const { headers } = await client.authorize({ prompt: 'none' }, cookie)
    expect(headers['location']).toContain('login_required')
  })

  test('an exchange that meets the end of its session leaves nothing behind', async () => {
    const { sub, code, token } = await started(email)
    const session = await stack.context.sessions.find(client.site, client.pool, token)
    const ended = { sub, sessionId: session?.sessionId ?? '' }
    const [answer] = await Promise.all([
      client.exchange(code),
      second.context.sessions.revoke(client.site, client.pool, ended, SYSTEM),
    ])
    expect(await lives(answer)).toBe(false)
  })

  test('a code that comes out of a session that is being ended is good for nothing', async () => {
    const { token, cookie } = await started(email)
    const origin = { address: '127.0.0.1', userAgent: '', requestId: 'test' }
    const [resumed] = await Promise.all([
      client.authorize({}, cookie),
      second.context.sessions.end({ site: client.site, pool: client.pool, origin }, token),
    ])
    const location = new URL(resumed.headers['location'] ?? '', client.pool.issuer)
    const answer = await client.exchange(location.searchParams.get('code') ?? 'none')
    expect(await lives(answer)).toBe(false)
  })

  test('several refreshes on two replicas get the same tokens, and the sign-in goes on', async () => {
    const { refresh_token: token } = await client.tokens(email)
    const answers = await Promise.all(
      [client, there, client, there].map((replica) => replica.refresh(token)),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await Promise.all(answers.map(lives))).toEqual([true, true, true, true])
  })

  test('refreshes for different scopes at once give tokens to one, and the sign-in ends', async () => {
    const { refresh_token: token } = await client.tokens(email)
    const answers = await Promise.all(
      ['openid', 'email'].flatMap((scope) =>
        [client, there].map((replica) => replica.refresh(token, { scope })),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]))
    expect(await Promise.all(answers.map(lives))).toEqual([false, false, false, false])
  })

  test('one of several exchanges on two replicas wins, and the sign-in ends', async () => {
    const { code } = await started(email)
    const same = { code_verifier: client.verifier }
    const answers = await Promise.all(
      [client, there, client, there].map((replica) => replica.exchange(code, same)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await Promise.all(answers.map(lives))).toEqual([false, false, false, false])
  })

  test('many tabs of a browser that was away all get their code', async () => {
    const { sub, cookie } = await started(email)
    await asSuperuser(
      stack,
      (sql) => sql`update sign_in_session set last_seen_at = now() - interval '1 hour'
                   where sub = ${sub}`,
    )
    const answers = await Promise.all(
      [client, there, client, there, client, there].map((tab) => tab.authorize({}, cookie)),
    )
    for (const { headers } of answers) expect(headers['location']).toContain('code=')
  })

  test('a form that is sent twice signs in once or twice, and fails never', async () => {
    const { sub, token } = await started(email)
    const again = await Promise.all(
      [client, there, client, there].map((tab) => tab.signIn(sub, { replaces: token })),
    )
    for (const { cookie } of again) {
      const { headers } = await client.authorize({ prompt: 'none' }, cookie)
      expect(headers['location']).toContain('code=')
    }
  })

  test('a user who is deleted while a session is used leaves no token behind', async () => {
    const doomed = `doomed-${round}@example.org`
    const { sub, cookie } = await started(doomed)
    const { refresh_token: token } = await client.tokens(doomed)
    const [refreshed, resumed] = await Promise.all([
      client.refresh(token),
      client.authorize({}, cookie),
      asSuperuser(stack, (sql) => sql`delete from pool_user where sub = ${sub}`),
    ])
    expect([resumed.status, refreshed.status < 500]).toEqual([303, true])
    expect(await lives(refreshed)).toBe(false)
  })
})

async function started(email: string) {
  const sub = await client.user(email)
  return { sub, ...(await client.signIn(sub)) }
}
