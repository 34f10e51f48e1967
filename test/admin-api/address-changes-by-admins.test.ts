import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import { allMailTo, codeIn, linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SITES = ['one.test', 'two.test']
const ORIGIN = { address: '192.0.2.7', userAgent: '', requestId: 'r' }

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('an address that an admin gives an active account, %s', (_where, baseUrl) => {
  let stack: Stack
  let pool: AdminPool
  let adam: Member
  beforeAll(async () => {
    stack = await startStack({ sites: SITES, ...(baseUrl && { config: { baseUrl } }) })
    pool = new AdminPool(stack, 'one.test')
    adam = await pool.joined('admin')
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const give = (user: Member, body: object) =>
    adam.call('PUT', `/users/${user.userId}/profile`, { body })
  const profileOf = async (user: Member) =>
    (await adam.call('GET', `/users/${user.userId}/profile`)).json

  async function linkTo(address: string, kind: 'address-proof' | 'address-changed') {
    const { pathname, search } = new URL(linkIn(await mailTo(stack, address, kind)))
    return `${pathname}${search}`
  }

  async function agree(link: string, host = 'one.test') {
    const visitor = new FormBrowser(stack, host)
    const page = await visitor.get(link)
    return page.status === 200 ? visitor.submit(page, {}) : page
  }

  /** A user whose new address an admin has set. */
  async function given(prefix = 'new') {
    const bob = await pool.joined('user')
    const wanted = `${prefix}-${bob.email}`
    const answer = await give(bob, { primaryEmail: wanted })
    expect(answer.status, answer.text).toBe(200)
    return { bob, wanted, answer }
  }

  test('waits for its proof, and the answer says so', async () => {
    const { bob, wanted, answer } = await given()
    const waiting = { primaryEmail: bob.email, activeEmail: bob.email, pendingEmail: wanted }
    expect(answer.json).toMatchObject(waiting)
    expect(await profileOf(bob)).toMatchObject(waiting)
    expect((await bob.call('GET', '/profile')).json).toMatchObject(waiting)
    expect(await allMailTo(stack, bob.email, 'address-changed')).toEqual([])

    const done = await agree(await linkTo(wanted, 'address-proof'))
    expect(textOf(done.text)).toContain(`you sign in as ${wanted}`)
    const after = await profileOf(bob)
    expect(after).toMatchObject({ primaryEmail: wanted, activeEmail: wanted })
    expect(after).not.toHaveProperty('pendingEmail')
  })

  test('ends every sign-in once it is proven, and not before', async () => {
    const { bob, wanted } = await given()
    expect((await bob.call('GET', '/profile')).status).toBe(200)
    expect((await agree(await linkTo(wanted, 'address-proof'))).status).toBe(200)
    expect((await bob.call('GET', '/profile')).status).toBe(401)
  })

  test('gives no password away before: a reset is mailed to the old one', async () => {
    const { bob, wanted } = await given()
    const party = await RelyingParty.of(stack, 'one.test', 'admin')
    const at = { site: party.site, pool: party.pool, origin: ORIGIN }
    await stack.context.passwordResets.request(at, wanted)
    await stack.context.passwordResets.request(at, bob.email)
    expect(codeIn(await mailTo(stack, bob.email, 'reset'))).toMatch(/^\d{6}$/)
    expect(await allMailTo(stack, wanted, 'reset')).toEqual([])
  })

  test('is undone from the old one for a week', async () => {
    const { bob, wanted } = await given()
    await agree(await linkTo(wanted, 'address-proof'))
    const heir = await pool.named(wanted)
    const undone = await agree(await linkTo(bob.email, 'address-changed'))
    expect(textOf(undone.text)).toContain(`You sign in as ${bob.email} again`)
    expect(await profileOf(bob)).toMatchObject({ primaryEmail: bob.email })
    expect((await heir.call('GET', '/profile')).status).toBe(401)
  })

  test('is in the trail, with the admin who set it', async () => {
    const { bob, wanted } = await given()
    await agree(await linkTo(wanted, 'address-proof'))
    const { json } = await stack.portal(
      'GET',
      `/sites/one.test/audit?event=user.changed&sub=${bob.userId}`,
    )
    expect(json.items.slice(0, 2)).toMatchObject([
      { detail: { previousEmail: bob.email, requestedBy: adam.userId } },
      { actor: adam.userId, detail: { fields: 'pendingEmail', pendingEmail: wanted } },
    ])
  })

  test('takes the place of the one that waits, and goes with the present one', async () => {
    const { bob, wanted } = await given('first')
    const first = await linkTo(wanted, 'address-proof')
    const answer = await give(bob, { primaryEmail: `second-${bob.email}`, settings: { a: 1 } })
    expect(answer.json).toMatchObject({
      pendingEmail: `second-${bob.email}`,
      settings: { a: 1 },
    })
    expect((await agree(first)).status).toBe(410)
    const second = await linkTo(`second-${bob.email}`, 'address-proof')
    expect((await give(bob, { primaryEmail: bob.email })).json).not.toHaveProperty('pendingEmail')
    expect((await agree(second)).status).toBe(410)
    expect((await agree(second, 'two.test')).status).toBe(410)
  })

  test('is refused when another account has it', async () => {
    const bob = await pool.joined('user')
    expect(await give(bob, { primaryEmail: adam.email })).toMatchObject({
      status: 409,
      json: { error: { code: 'UserAlreadyExists' } },
    })
    expect(await profileOf(bob)).not.toHaveProperty('pendingEmail')
  })

  test('is named a few times an hour, which leaves the owner their own', async () => {
    const bob = await pool.joined('user')
    const statuses = []
    for (let n = 0; n < 8; n++) {
      statuses.push((await give(bob, { primaryEmail: `v${n}-${bob.email}` })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    const own = await bob.call('PUT', '/profile', { body: { primaryEmail: `own-${bob.email}` } })
    expect(own.status, own.text).toBe(200)
  })

  test('gets no mail about the account as the external one, unless its owner chooses it', async () => {
    const bob = await pool.joined('user')
    await bob.call('PUT', '/profile', { body: { externalEmail: 'bob@out.test' } })
    await bob.call('PUT', '/profile', { body: { activeEmail: 'bob@out.test' } })
    const answer = await give(bob, { externalEmail: 'thief@out.test' })
    expect(answer.json).toMatchObject({
      externalEmail: 'thief@out.test',
      activeEmail: bob.email,
    })
    const party = await RelyingParty.of(stack, 'one.test', 'admin')
    const at = { site: party.site, pool: party.pool, origin: ORIGIN }
    await stack.context.passwordResets.request(at, bob.email)
    expect(await mailTo(stack, bob.email, 'reset')).toBeDefined()
    expect(await allMailTo(stack, 'thief@out.test', 'reset')).toEqual([])
  })
})
