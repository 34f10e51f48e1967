import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { asAdmin } from '#test/postgres.ts'
import { type Stack, startStack } from '#test/stack.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

let stack: Stack
let pool: AdminPool
let ann: Member
let adam: Member
let ursula: Member
beforeAll(async () => {
  stack = await startStack()
  pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  adam = await pool.joined('admin')
  ursula = await pool.joined('user')
})
afterAll(() => stack[Symbol.asyncDispose]())

const create = (body: unknown, by = ann) => by.call('POST', '/users', { body })
const eventsOf = async (userId: string): Promise<{ event: string; actor: string }[]> => {
  const { json } = await stack.portal('GET', `/sites/one.test/audit?sub=${userId}`)
  return json.items
}

describe('creating a user', () => {
  test('invites an address, by mail, with a link to the page of the role', async () => {
    const answer = await create({ email: 'Bob@One.test', role: 'admin' })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      userId: expect.stringMatching(UUID),
      email: 'bob@one.test',
      role: 'admin',
      externalEmail: null,
      status: 'INVITED',
      inviteSent: false,
      inviteRecipient: 'bob@one.test',
    })
    const mail = await mailTo(stack, 'bob@one.test', 'invite')
    expect(linkIn(mail)).toMatch(
      new RegExp(`^${stack.baseUrl('one.test')}/admin/public/onboarding/user\\?token=[\\w-]{43}$`),
    )
    expect(answer.text).not.toContain(new URL(linkIn(mail)).searchParams.get('token'))
  })

  test('sends the invitation to the external address when there is one', async () => {
    const { json } = await create({ email: 'cat@one.test', externalEmail: 'Cat@Out.test' })
    expect(json).toMatchObject({
      role: 'user',
      externalEmail: 'cat@out.test',
      inviteRecipient: 'cat@out.test',
    })
    expect(linkIn(await mailTo(stack, 'cat@out.test', 'invite'))).toContain('/onboarding/user?')
  })

  test('is written down, with who did it', async () => {
    const { json } = await create({ email: 'dan@one.test' }, adam)
    const events = await eventsOf(json.userId)
    expect(events.map(({ event }) => event).sort()).toEqual(['invite.sent', 'user.created'])
    expect(events.map(({ actor }) => actor)).toEqual([adam.userId, adam.userId])
  })

  test('knows the same address on another site as another user', async () => {
    const other = await new AdminPool(stack, 'two.test').first()
    const email = 'both@example.test'
    const [here, there] = [await create({ email }), await create({ email }, other)]
    expect([here.status, there.status]).toEqual([200, 200])
    expect(here.json.userId).not.toBe(there.json.userId)
    expect((await other.call('GET', `/users/${here.json.userId}/profile`)).json.error.code).toBe(
      'UserNotFound',
    )
    expect((await other.call('DELETE', `/users/${here.json.userId}`)).status).toBe(404)
  })

  test.each([
    ['a user', 'super-admin', 'user', 200],
    ['an admin', 'super-admin', 'admin', 200],
    ['a super-admin', 'super-admin', 'super-admin', 200],
    ['a user', 'admin', 'user', 200],
    ['an admin', 'admin', 'admin', 200],
    ['a super-admin', 'admin', 'super-admin', 403],
    ['a user', 'user', 'user', 403],
  ] as const)(
    '(%s) by a %s who asks for the role %s answers %d',
    async (_what, by, role, status) => {
      const caller = { 'super-admin': ann, admin: adam, user: ursula }[by]
      const answer = await create({ email: `${by}-makes-${role}@one.test`, role }, caller)
      expect([answer.status, answer.json.error?.code]).toEqual([
        status,
        status === 403 ? 'Forbidden' : undefined,
      ])
    },
  )

  test.each([
    ['an address that is there', { email: 'ANN@one.test' }, 409, 'UserAlreadyExists'],
    ['no address', {}, 400, 'ValidationError'],
    ['an address that is none', { email: 'bob' }, 400, 'ValidationError'],
    ['two addresses', { email: 'bob@x.test,eve@x.test' }, 400, 'ValidationError'],
    ['a header in the address', { email: 'b@x.test\r\nBcc: e@x.test' }, 400, 'ValidationError'],
    ['an address too long', { email: `${'b'.repeat(250)}@x.test` }, 400, 'ValidationError'],
    ['a role that is none', { email: 'b@x.test', role: 'owner' }, 400, 'ValidationError'],
    [
      'an external address that is none',
      { email: 'b@x.test', externalEmail: '' },
      400,
      'ValidationError',
    ],
    ['a field that is not known', { email: 'b@x.test', status: 'ACTIVE' }, 400, 'ValidationError'],
    ['a list', [{ email: 'b@x.test' }], 400, 'ValidationError'],
    ['no JSON', '{"email":', 400, 'InvalidJson'],
  ])('is refused with %s', async (_what, body, status, code) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await ann.call('POST', '/users', { body, headers })
    expect(answer).toMatchObject({ status, json: { error: { code } } })
  })

  test('names the field that is wrong, in words', async () => {
    const { json } = await create({ email: 'bob', role: 'x' })
    expect(json.error.details).toEqual([
      { field: 'email', message: 'must be an email address' },
      { field: 'role', message: 'must be one of "user", "admin", "super-admin"' },
    ])
  })
})

describe('the list of users', () => {
  let many: AdminPool
  let reader: Member
  const emails = Array.from({ length: 119 }, (_, i) => `m${String(i).padStart(3, '0')}@many.test`)
  beforeAll(async () => {
    await stack.createSite({ domain: 'many.test', superAdmins: ['ann@many.test'] })
    many = new AdminPool(stack, 'many.test')
    reader = await many.first()
    await asAdmin(
      (sql) => sql`
        insert into pool_user (site_id, user_pool_id, sub, email, role, status, origin)
        select site_id, user_pool_id, gen_random_uuid(), 'm' || to_char(n, 'fm000') || '@many.test',
               'user', 'ACTIVE', 'operator'
        from pool_user, generate_series(0, 118) as n
        where pool_user.email = 'ann@many.test'`,
      stack.database.url,
    )
  })

  test('lists every user once, fifty at a time', async () => {
    const pages: string[][] = []
    let next = ''
    do {
      const { status, json } = await reader.call('GET', `/users${next}`)
      expect(status).toBe(200)
      pages.push(json.items.map((item: { email: string }) => item.email))
      next = json.nextToken === null ? '' : `?nextToken=${encodeURIComponent(json.nextToken)}`
    } while (next !== '')
    expect(pages.map((page) => page.length)).toEqual([50, 50, 20])
    expect(pages.flat()).toEqual(['ann@many.test', ...emails])
  })

  test('shows who they are, and whether they have come', async () => {
    const { json } = await reader.call('GET', '/users?limit=2')
    expect(json).toEqual({
      items: [
        {
          userId: reader.userId,
          email: 'ann@many.test',
          role: 'super-admin',
          externalEmail: null,
          status: 'INVITED',
        },
        {
          userId: expect.stringMatching(UUID),
          email: 'm000@many.test',
          role: 'user',
          externalEmail: null,
          status: 'ACTIVE',
        },
      ],
      nextToken: expect.any(String),
    })
  })

  test('gives fifty at most', async () => {
    expect((await reader.call('GET', '/users?limit=1000000')).json.items).toHaveLength(50)
    expect((await reader.call('GET', '/users?limit=50')).json.items).toHaveLength(50)
    expect((await reader.call('GET', '/users?limit=1')).json.items).toHaveLength(1)
  })

  test('says nothing of visitors', async () => {
    await stack.dataToken('many.test', { user: 'a-visitor@many.test' })
    expect((await reader.call('GET', '/users')).text).not.toContain('a-visitor')
  })

  test.each(['0', '-1', 'ten', '1.5', '', ' 1', '1e1'])('refuses the limit %j', async (limit) => {
    expect(await reader.call('GET', `/users?limit=${encodeURIComponent(limit)}`)).toMatchObject({
      status: 400,
      json: { error: { code: 'ValidationError', details: [{ field: 'limit' }] } },
    })
  })

  test('refuses a token of another site, of another list, and one that was touched', async () => {
    const { json } = await reader.call('GET', '/users?limit=1')
    const token: string = json.nextToken
    const ask = (by: Member, nextToken: string) =>
      by.call('GET', `/users?nextToken=${encodeURIComponent(nextToken)}`)
    expect((await ask(reader, token)).status).toBe(200)
    const sites = await stack.portal('GET', '/sites?limit=1')
    const refusals = [
      await ask(ann, token),
      await ask(reader, sites.json.nextToken),
      await ask(reader, `${token.slice(0, -2)}AA`),
      await ask(reader, 'x'),
    ]
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 400, json: { error: { code: 'InvalidNextToken' } } })
    }
  })
})

describe('deleting a user', () => {
  test('takes everything of theirs, and answers nothing', async () => {
    const eve = await pool.joined('user')
    const answer = await adam.call('DELETE', `/users/${eve.userId}`)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await eve.call('GET', '/profile')).status).toBe(401)
    expect((await adam.call('GET', `/users/${eve.userId}/profile`)).status).toBe(404)
    expect((await adam.call('DELETE', `/users/${eve.userId}`)).status).toBe(404)
    const [newest] = await eventsOf(eve.userId)
    expect(newest).toMatchObject({ event: 'user.deleted', actor: adam.userId, email: eve.email })
  })

  test('ends the invitation', async () => {
    const { userId, email } = await pool.invited()
    const link = linkIn(await mailTo(stack, email, 'invite'))
    expect(await pool.pageStatus(link)).toBe(200)
    await ann.call('DELETE', `/users/${userId}`)
    expect(await pool.pageStatus(link)).toBe(410)
  })

  test('lets the address be invited again, as another user', async () => {
    const first = await pool.invited({ email: 'again@one.test' })
    await ann.call('DELETE', `/users/${first.userId}`)
    const second = await pool.invited({ email: 'again@one.test' })
    expect(second.userId).not.toBe(first.userId)
  })

  test('is refused for oneself, whatever one is', async () => {
    for (const self of [ann, adam]) {
      expect(await self.call('DELETE', `/users/${self.userId}`)).toMatchObject({
        status: 409,
        json: { error: { code: 'CannotDeleteSelf' } },
      })
    }
  })

  test.each([
    ['nobody', () => '00000000-0000-4000-8000-000000000000', 404, 'UserNotFound'],
    ['what is no id', () => 'x', 404, 'UserNotFound'],
    ['NUL', () => '%00', 400, 'ValidationError'],
    ['a super-admin, by an admin', () => ann.userId, 403, 'Forbidden'],
  ])('is refused of %s', async (_what, userId, status, code) => {
    const answer = await adam.call('DELETE', `/users/${userId()}`)
    expect(answer).toMatchObject({ status, json: { error: { code } } })
  })

  test('is refused to a user', async () => {
    expect((await ursula.call('DELETE', `/users/${adam.userId}`)).status).toBe(403)
  })

  test('withdraws the invitation of a super-admin, but not the last one who can sign in', async () => {
    const invited = await pool.invited({ role: 'super-admin' })
    const active = await pool.joined('super-admin')
    expect((await ann.call('DELETE', `/users/${invited.userId}`)).status).toBe(204)
    // Ann was invited and never came: without the other one no super-admin could sign in.
    expect(await ann.call('DELETE', `/users/${active.userId}`)).toMatchObject({
      status: 409,
      json: { error: { code: 'LastSuperAdmin' } },
    })
  })
})

describe('changing a role', () => {
  const change = (by: Member, userId: string, role: string) =>
    by.call('PATCH', `/users/${userId}`, { body: { role } })

  test('takes effect at once: tokens with the old role end', async () => {
    const fay = await pool.joined('admin')
    const answer = await change(ann, fay.userId, 'user')
    expect(answer).toMatchObject({ status: 200, json: { userId: fay.userId, role: 'user' } })
    expect((await fay.call('GET', '/users')).status).toBe(401)
    const [newest] = await eventsOf(fay.userId)
    expect(newest).toMatchObject({
      event: 'role.changed',
      actor: ann.userId,
      detail: { from: 'admin', to: 'user' },
    })
    const again = await pool.named(fay.email)
    expect((await again.call('GET', '/profile')).status).toBe(200)
    expect((await again.call('GET', '/users')).status).toBe(403)
  })

  test('to the same one changes nothing', async () => {
    const gil = await pool.joined('user')
    expect((await change(adam, gil.userId, 'user')).status).toBe(200)
    expect((await gil.call('GET', '/profile')).status).toBe(200)
  })

  test('of an invited user sends the link to the page of the new role', async () => {
    const { userId, email } = await pool.invited()
    const first = await mailTo(stack, email, 'invite')
    await change(ann, userId, 'super-admin')
    const second = await mailTo(stack, email, 'invite', first)
    expect(linkIn(second)).toContain('/onboarding/super-admin?')
  })

  test.each([
    ['a user’s to super-admin', () => ursula, 'super-admin'],
    ['a super-admin’s to user', () => ann, 'user'],
  ])('by an admin is refused (%s)', async (_what, whom, role) => {
    expect(await change(adam, whom().userId, role)).toMatchObject({
      status: 403,
      json: { error: { code: 'Forbidden' } },
    })
  })

  test.each([
    ['nobody', 'user', 404, 'UserNotFound'],
    ['nobody', 'owner', 400, 'ValidationError'],
  ])('of %s to %s is refused', async (userId, role, status, code) => {
    expect(await change(ann, userId, role)).toMatchObject({ status, json: { error: { code } } })
  })

  test('leaves the site a super-admin', async () => {
    await stack.createSite({ domain: 'lone.test', superAdmins: ['ann@lone.test'] })
    const lone = await new AdminPool(stack, 'lone.test').first()
    expect(await change(lone, lone.userId, 'admin')).toMatchObject({
      status: 409,
      json: { error: { code: 'LastSuperAdmin' } },
    })
  })
})
