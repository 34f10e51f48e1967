import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AccountsDesk, BETTER, GOOD } from '#test/accounts-desk.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { type Stack, startStack } from '#test/stack.ts'

const UNICODE = 'ann@ü.test'
const ASCII = 'ann@xn--tda.test'

describe('an account of an address with a Unicode domain', () => {
  let desk: AccountsDesk
  beforeAll(async () => {
    desk = await AccountsDesk.open()
    const { registrationId } = await desk.signUp(UNICODE)
    await desk.confirm(UNICODE, await desk.code(ASCII), registrationId)
  })
  afterAll(() => desk[Symbol.asyncDispose]())

  test.each([UNICODE, ASCII, 'ANN@Ü.TEST', 'ann@u\u0308.test', ' Ann@XN--TDA.test '])(
    'signs in as %j',
    async (typed) => {
      expect(await desk.signIn(typed, GOOD)).toMatchObject({
        kind: 'signed-in',
        user: { email: ASCII },
      })
    },
  )

  test('gets its password back by either, and no other account is made', async () => {
    await desk.forgot(UNICODE)
    await desk.reset(ASCII, await desk.code(ASCII))
    expect(await desk.signIn(UNICODE, BETTER)).toMatchObject({ kind: 'signed-in' })
    await desk.signUp(ASCII)
    expect(await desk.mailTo(UNICODE)).toEqual([])
    // Its owner is notified; no second account is made.
    expect((await desk.mailTo(ASCII)).at(-1)?.kind).not.toBe('verification')
  })

  test('is the one that the operator means by either', async () => {
    const [one, other] = [
      await desk.replica.users.byEmail(desk.site, desk.pool, UNICODE),
      await desk.replica.users.byEmail(desk.site, desk.pool, ASCII),
    ]
    expect(one.sub).toBe(other.sub)
    const ensured = await desk.replica.users.ensureVisitor(desk.site, desk.pool, ASCII)
    expect(ensured.sub).toBe(one.sub)
  })
})

describe('a member of an admin pool', () => {
  let stack: Stack
  let ann: Member
  beforeAll(async () => {
    stack = await startStack()
    ann = await new AdminPool(stack, 'one.test').first()
  })
  afterAll(() => stack[Symbol.asyncDispose]())
  const create = (body: object) => ann.call('POST', '/users', { body })

  test('has an address once, in either spelling', async () => {
    const first = await create({ email: 'bob@ü.test', externalEmail: 'bob@Ö.test' })
    expect(first.json).toMatchObject({
      email: 'bob@xn--tda.test',
      externalEmail: 'bob@xn--nda.test',
      inviteRecipient: 'bob@xn--nda.test',
    })
    for (const email of ['bob@ü.test', 'BOB@Ü.test', 'bob@xn--tda.test']) {
      expect(await create({ email })).toMatchObject({
        status: 409,
        json: { error: { code: 'UserAlreadyExists' } },
      })
    }
    const taken = { primaryEmail: 'bob@Ü.test' }
    const { json } = await create({ email: 'cat@ü.test' })
    const changed = await ann.call('PUT', `/users/${json.userId}/profile`, { body: taken })
    expect(changed.status).toBe(409)
  })

  test('keeps the active address that is named in either spelling', async () => {
    const { json } = await create({ email: 'dan@one.test', externalEmail: 'dan@ü.test' })
    const path = `/users/${json.userId}/profile`
    const profile = await ann.call('PUT', path, { body: { externalEmail: 'dan@xn--tda.test' } })
    expect(profile.json).toMatchObject({ externalEmail: 'dan@xn--tda.test' })
  })

  test('is a super-admin of a new site once', async () => {
    const superAdmins = ['eve@ü.test', 'eve@xn--tda.test']
    const { onboarding } = await stack.createSite({ domain: 'new.test', superAdmins })
    expect(onboarding).toEqual([{ email: 'eve@xn--tda.test', url: expect.any(String) }])
    const eve = await new AdminPool(stack, 'new.test').named('eve@ü.test')
    const resent = await stack.call('new.test', 'POST', '/admin/api/super-admin-invites/resend', {
      token: eve.token,
      body: { superAdminEmails: ['eve@ü.test'] },
    })
    expect(resent.json).toMatchObject({ matchedCount: 1 })
  })
})
