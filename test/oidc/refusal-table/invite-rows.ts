import { expect } from 'vitest'

import { asSuperuser } from '#test/superuser.ts'

import { type Attack, PASSWORD, type Row, type World } from './world.ts'

const PAGE = '/admin/public/onboarding/super-admin'
const PASSWORDS = { password: PASSWORD, confirmPassword: PASSWORD }
let sites = 0

/** A site of its own, whose super-admin has a link that is good. */
async function invited(world: World) {
  sites += 1
  const host = `invite-${sites}.test`
  const { path, token } = await world.invited(host)
  const browser = world.browser(host)
  return { host, path, token, browser, page: await browser.get(path) }
}
type Invited = Awaited<ReturnType<typeof invited>>

const withLink =
  (attack: (own: Invited, world: World) => Promise<Attack> | Attack) =>
  async (world: World): Promise<Attack> =>
    attack(await invited(world), world)

export const INVITE_ROWS: readonly Row[] = [
  ['an invite that was used, looked at', '410 LinkExpired', withLink(usedLook)],
  ['an invite that was used, taken', '410 LinkExpired', withLink(usedTake)],
  ['an invite that is too old', '410 LinkExpired', withLink(tooOld)],
  ['an invite that a newer one has replaced', '410 LinkExpired', withLink(replaced)],
  ['an invite of another site', '410 LinkExpired', withLink(atAnotherSite)],
  ['an invite of a user who is gone', '410 LinkExpired', withLink(ofNobody)],
  ['an unknown invite', '410 LinkExpired', withLink(madeUp)],
  ['an invite as it is stored', '410 LinkExpired', withLink(stolenHash)],
  ['an invite taken from another site', '403 Forbidden', withLink(fromAnotherSite)],
  ['an invite taken from another origin', '403 Forbidden', withLink(fromAnotherOrigin)],
  ['an invite without its token', '400 MissingToken', withLink(without)],
]

const take = ({ browser, page }: Invited) => browser.submit(page, PASSWORDS)

async function usedLook(own: Invited): Promise<Attack> {
  expect((await take(own)).status).toBe(200)
  return { send: () => own.browser.get(own.path) }
}

async function usedTake(own: Invited): Promise<Attack> {
  expect((await take(own)).status).toBe(200)
  return { send: () => take(own) }
}

async function tooOld(own: Invited, world: World): Promise<Attack> {
  const { siteId } = await world.stack.context.sites.find(own.host)
  await world.expire('user_invite', 'site_id', siteId)
  return { send: () => take(own) }
}

async function replaced(own: Invited, { stack }: World): Promise<Attack> {
  const token = await stack.adminToken(own.host)
  const path = '/admin/api/super-admin-invites/resend'
  expect((await stack.call(own.host, 'POST', path, { token })).json.resentCount).toBe(1)
  return { send: () => take(own) }
}

function atAnotherSite(own: Invited, world: World): Attack {
  return {
    send: () => world.browser('one.test').get(own.path),
    afterwards: async () => expect((await take(own)).status).toBe(200),
  }
}

async function ofNobody(own: Invited, { stack }: World): Promise<Attack> {
  await stack.inSite(own.host, (tx) => tx.db.deleteFrom('pool_user').execute())
  return { send: () => take(own) }
}

function madeUp(own: Invited): Attack {
  return { send: () => own.browser.get(`${PAGE}?token=${'x'.repeat(43)}`) }
}

async function stolenHash(own: Invited, { stack }: World): Promise<Attack> {
  const { siteId } = await stack.context.sites.find(own.host)
  const [row] = await asSuperuser(
    stack,
    (sql) => sql<{ hash: Buffer }[]>`
      select token_hash as hash from user_invite where site_id = ${siteId}`,
  )
  const hash = row?.hash.toString('base64url') ?? ''
  expect(hash).toHaveLength(43)
  return { send: () => own.browser.get(`${PAGE}?token=${hash}`) }
}

function without(own: Invited): Attack {
  return { send: () => own.browser.get(PAGE) }
}

function fromAnotherSite({ browser, page }: Invited): Attack {
  return { send: () => browser.submit(page, PASSWORDS, { 'sec-fetch-site': 'cross-site' }) }
}

function fromAnotherOrigin({ browser, page }: Invited): Attack {
  return { send: () => browser.submit(page, PASSWORDS, { origin: 'https://evil.test' }) }
}
