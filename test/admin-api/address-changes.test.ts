import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import { allMailTo, codeIn, linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const HOST = 'one.test'
const CONFIRM = '/admin/public/address/confirm'
const UNDO = '/admin/public/address/undo'
const ORIGIN = { address: '192.0.2.7', userAgent: '', requestId: 'r' }

let stack: Stack
let pool: AdminPool
let adam: Member
beforeAll(async () => {
  stack = await startStack({ sites: [HOST, 'two.test'] })
  pool = new AdminPool(stack, HOST)
  adam = await pool.joined('admin')
})
afterAll(() => stack[Symbol.asyncDispose]())

const put = (member: Member, body: unknown) => member.call('PUT', '/profile', { body })
const profileOf = async (member: Member) => (await member.call('GET', '/profile')).json
const browser = (host = HOST) => new FormBrowser(stack, host)

/** Path and query of the link in the newest message of that kind. */
async function linkTo(address: string, kind: 'address-proof' | 'address-changed'): Promise<string> {
  const { pathname, search } = new URL(linkIn(await mailTo(stack, address, kind)))
  return `${pathname}${search}`
}

/** Opens a link and agrees. */
async function agree(link: string, host = HOST) {
  const visitor = browser(host)
  const page = await visitor.get(link)
  return page.status === 200 ? visitor.submit(page, {}) : page
}

/** A member who has requested a new address, and its link. */
async function asked(): Promise<{ bob: Member; wanted: string; link: string }> {
  const bob = await pool.joined('user')
  const wanted = `new-${bob.email}`
  const answer = await put(bob, { primaryEmail: wanted })
  expect(answer.status, answer.text).toBe(200)
  return { bob, wanted, link: await linkTo(wanted, 'address-proof') }
}

/** A member whose address has changed, and the link that undoes it. */
async function moved() {
  const { bob, wanted, link } = await asked()
  expect((await agree(link)).status).toBe(200)
  return { bob, wanted, undo: await linkTo(bob.email, 'address-changed') }
}

describe('a new address of one’s own', () => {
  test('takes effect once it is proven, and not before', async () => {
    const { bob, wanted, link } = await asked()
    const before = { primaryEmail: bob.email, activeEmail: bob.email, pendingPrimaryEmail: wanted }
    expect(await profileOf(bob)).toMatchObject(before)
    const page = await browser().get(link)
    expect(page.status).toBe(200)
    expect(textOf(page.text)).toContain(wanted)
    expect(await profileOf(bob)).toMatchObject(before)
    expect(await allMailTo(stack, bob.email, 'address-changed')).toEqual([])

    const done = await agree(link)
    expect(textOf(done.text)).toContain(`you sign in as ${wanted}`)
    const after = await profileOf(bob)
    expect(after).toMatchObject({ primaryEmail: wanted, activeEmail: wanted })
    expect(after).not.toHaveProperty('pendingPrimaryEmail')
    expect((await pool.named(wanted)).userId).toBe(bob.userId)
    const { json } = await stack.portal(
      'GET',
      `/sites/${HOST}/audit?event=user.changed&sub=${bob.userId}`,
    )
    expect(json.items[0]).toMatchObject({
      event: 'user.changed',
      email: wanted,
      detail: { fields: 'primaryEmail', previousEmail: bob.email },
    })
  })

  test('goes with what else a change says, which holds at once', async () => {
    const bob = await pool.joined('user')
    const wanted = `New-${bob.email}`
    const answer = await put(bob, { primaryEmail: wanted, activeEmail: wanted, settings: { a: 1 } })
    expect(answer.json).toMatchObject({
      primaryEmail: bob.email,
      activeEmail: bob.email,
      pendingPrimaryEmail: wanted.toLowerCase(),
      settings: { a: 1 },
    })
  })

  test('is undone from the old one, which ends every sign-in', async () => {
    const { bob, wanted, undo } = await moved()
    const page = await browser().get(undo)
    expect(textOf(page.text)).toContain(bob.email)
    expect((await bob.call('GET', '/profile')).status).toBe(200)
    expect((await agree(undo)).status).toBe(200)
    for (const recorded of [
      `POST ${CONFIRM} user.changed`,
      `POST ${UNDO} user.changed`,
      `POST ${UNDO} sessions.revoked`,
    ]) {
      expect(stack.app.recorded.has(recorded), recorded).toBe(true)
    }
    expect((await bob.call('GET', '/profile')).status).toBe(401)
    expect((await pool.named(bob.email)).userId).toBe(bob.userId)
    expect(await agree(undo)).toMatchObject({ status: 410 })
    expect((await adam.call('POST', '/users', { body: { email: wanted } })).status).toBe(200)
  })

  test('is undone with all changes that the holder of the account made since', async () => {
    const { bob, wanted, undo } = await moved()
    const party = await RelyingParty.of(stack, HOST, 'admin')
    const at = { site: party.site, pool: party.pool, origin: ORIGIN }
    const thiefs = { email: wanted, password: 'Thiefs-own-1' }
    await stack.context.ownPasswords.add(at, { sub: bob.userId, password: thiefs.password })
    await put(bob, { externalEmail: 'thief@out.test' })
    await put(bob, { activeEmail: 'thief@out.test' })
    expect((await agree(undo)).status).toBe(200)
    const back = await pool.named(bob.email)
    expect(await profileOf(back)).toMatchObject({ activeEmail: bob.email })
    const { passwordSignIns, passwordResets } = stack.context
    await expect(
      passwordSignIns.authenticate(at, { ...thiefs, email: bob.email }),
    ).rejects.toMatchObject({ code: 'InvalidCredentials' })
    await passwordResets.request(at, bob.email)
    const code = codeIn(await mailTo(stack, bob.email, 'reset'))
    const own = { email: bob.email, password: 'Owners-new-1' }
    await passwordResets.confirm(at, { ...own, code })
    expect(await passwordSignIns.authenticate(at, own)).toMatchObject({ kind: 'signed-in' })
  })

  test('is undone with the ways to sign in that were added since it was asked for, and no others', async () => {
    const bob = await pool.joined('user')
    const { userId } = bob
    const { userPoolId } = (await RelyingParty.of(stack, HOST, 'admin')).pool
    const addPasskey = (name: string, addedAt: Date) =>
      asSuperuser(
        stack,
        (sql) => sql`
          insert into user_passkey (site_id, user_pool_id, sub, credential_id, public_key, sign_count, transports, name, created_at)
          select site_id, user_pool_id, sub, ${Buffer.from(name)}, '', 0, '[]', ${name}, ${addedAt}
          from pool_user where user_pool_id = ${userPoolId} and sub = ${userId}`,
      )
    await addPasskey('own', new Date(Date.now() - 60_000))
    const wanted = `new-${bob.email}`
    await put(bob, { primaryEmail: wanted })
    expect((await agree(await linkTo(wanted, 'address-proof'))).status).toBe(200)
    await addPasskey('thiefs', new Date())
    await asSuperuser(stack, async (sql) => {
      await sql`
        insert into user_totp (site_id, user_pool_id, sub, sealed_secret, sealed_recovery_codes, recovery_codes_left, last_step)
        select site_id, user_pool_id, sub, '', '', 10, 0
        from pool_user where user_pool_id = ${userPoolId} and sub = ${userId}`
      await sql`
        insert into user_identity (site_id, user_pool_id, sub, provider, issuer, subject)
        select site_id, user_pool_id, sub, 'google', 'https://accounts.google.com', 'thief'
        from pool_user where user_pool_id = ${userPoolId} and sub = ${userId}`
    })
    expect((await agree(await linkTo(bob.email, 'address-changed'))).status).toBe(200)
    const left = await asSuperuser(
      stack,
      (sql) => sql`
        select name as way from user_passkey where sub = ${userId}
        union all select 'totp' from user_totp where sub = ${userId}
        union all select provider from user_identity where sub = ${userId}`,
    )
    expect([...left]).toEqual([{ way: 'own' }])
    const audit = await stack.portal(
      'GET',
      `/sites/${HOST}/audit?event=user.changed&sub=${bob.userId}`,
    )
    expect(audit.json.items[0].detail).toMatchObject({
      undone: true,
      removed: 'passkey totp google',
    })
  })

  test('is undone also when another one has followed', async () => {
    const { bob, wanted, undo } = await moved()
    const third = `third-${bob.email}`
    await put(bob, { primaryEmail: third })
    expect((await agree(await linkTo(third, 'address-proof'))).status).toBe(200)
    expect(await profileOf(bob)).toMatchObject({ primaryEmail: third })
    expect((await agree(undo)).status).toBe(200)
    expect(await profileOf(await pool.named(bob.email))).toMatchObject({ primaryEmail: bob.email })
    const later = await linkTo(wanted, 'address-changed')
    expect((await agree(later)).status).toBe(410)
  })

  test('is not made once an admin has named another one, which keeps the way back', async () => {
    const { bob, undo } = await moved()
    await put(bob, { primaryEmail: `more-${bob.email}` })
    const pending = await linkTo(`more-${bob.email}`, 'address-proof')
    const heir = `heir-${bob.email}`
    const given = await adam.call('PUT', `/users/${bob.userId}/profile`, {
      body: { primaryEmail: heir },
    })
    expect(given.status, given.text).toBe(200)
    expect((await agree(pending)).status).toBe(410)
    expect((await agree(await linkTo(heir, 'address-proof'))).status).toBe(200)
    expect((await pool.named(heir)).userId).toBe(bob.userId)
    expect((await agree(undo)).status).toBe(200)
    expect((await pool.named(bob.email)).userId).toBe(bob.userId)
  })

  test('is requested again, or cancelled, after which the first link is dead', async () => {
    const { bob, link } = await asked()
    const other = `other-${bob.email}`
    await put(bob, { primaryEmail: other })
    expect((await browser().get(link)).status).toBe(410)
    expect(await profileOf(bob)).toMatchObject({ pendingPrimaryEmail: other })
    const second = await linkTo(other, 'address-proof')
    expect((await browser().get(second)).status).toBe(200)
    await put(bob, { primaryEmail: bob.email })
    expect((await browser().get(second)).status).toBe(410)
    expect(await profileOf(bob)).not.toHaveProperty('pendingPrimaryEmail')
  })

  test('takes a recent sign-in, as other addresses do; settings take none', async () => {
    const bob = await pool.joined('user')
    const party = await RelyingParty.of(stack, HOST, 'admin')
    const authTime = new Date(Date.now() - 20 * 60_000)
    const { code } = await party.signIn(await party.user(bob.email), { authTime })
    const { access_token: token } = (await party.exchange(code)).json
    const change = (body: object) => stack.call(HOST, 'PUT', '/admin/api/profile', { token, body })
    for (const body of [{ primaryEmail: `x-${bob.email}` }, { externalEmail: 'x@out.test' }]) {
      expect(await change(body)).toMatchObject({
        status: 403,
        json: { error: { code: 'RecentSignInRequired' } },
      })
    }
    expect((await change({ settings: { a: 1 }, primaryEmail: bob.email })).status).toBe(200)
    expect(await allMailTo(stack, `x-${bob.email}`)).toEqual([])
  })
})

describe('an address that is requested', () => {
  test('is free for an invitation by an admin, and then no longer for them', async () => {
    const { bob, wanted, link } = await asked()
    const invited = await adam.call('POST', '/users', { body: { email: wanted } })
    expect(invited.status, invited.text).toBe(200)
    expect((await agree(link)).status).toBe(409)
    expect(await profileOf(bob)).toMatchObject({ primaryEmail: bob.email })
  })

  test('goes to the first of two who proves it', async () => {
    const two = [await pool.joined('user'), await pool.joined('user')]
    const links = []
    for (const each of two) {
      const before = (await allMailTo(stack, 'it@one.test', 'address-proof'))[0]
      expect((await put(each, { primaryEmail: 'it@one.test' })).status).toBe(200)
      links.push(linkIn(await mailTo(stack, 'it@one.test', 'address-proof', before)))
    }
    const paths = links
      .map((link) => new URL(link))
      .map(({ pathname, search }) => pathname + search)
    const answers = await Promise.all(paths.map((path) => agree(path)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
  })

  test('is not free while its account may restore it', async () => {
    const { bob } = await moved()
    const invite = () => adam.call('POST', '/users', { body: { email: bob.email } })
    expect((await invite()).status).toBe(409)
    const carl = await pool.joined('user')
    expect((await put(carl, { primaryEmail: bob.email })).status).toBe(409)
    await age(bob)
    expect((await invite()).status).toBe(200)
  })
})

describe('a link of an address', () => {
  test('is good once, for what it is, at its site, and for a time', async () => {
    const { bob, link } = await asked()
    const token = new URL(link, 'http://x.test').searchParams.get('token') ?? ''
    expect((await browser().get(`${UNDO}?token=${token}`)).status).toBe(410)
    expect((await browser('two.test').get(link)).status).toBe(410)
    for (const [query, status] of [
      ['', 400],
      [`?token=${'x'.repeat(43)}`, 410],
      [`?token=${'x'.repeat(500)}`, 400],
    ] as const) {
      expect((await browser().get(`${CONFIRM}${query}`)).status, query).toBe(status)
    }
    const page = await browser().get(link)
    const foreign = await browser().submit(page, {}, { origin: 'https://evil.test' })
    expect(foreign.status).toBe(403)
    expect((await agree(link)).status).toBe(200)
    expect((await agree(link)).status).toBe(410)
    const undo = await linkTo(bob.email, 'address-changed')
    expect((await browser().get(undo.replace(UNDO, CONFIRM))).status).toBe(410)
    await age(bob)
    expect((await agree(undo)).status).toBe(410)
    const late = await asked()
    await age(late.bob)
    expect((await agree(late.link)).status).toBe(410)
  })
})

/** Lets the links of a member's addresses grow too old. */
const age = ({ userId }: Member) =>
  asSuperuser(
    stack,
    (sql) =>
      sql`update address_change set expires_at = now() - interval '1 second' where sub = ${userId}`,
  )
