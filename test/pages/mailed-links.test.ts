import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { Owner } from '#test/account-owner.ts'
import { AdminPool } from '#test/admin-api.ts'
import { FormBrowser } from '#test/form-browser.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE } from '#test/static-sites.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

const HOST = 'one.test'
/** Its visitors sign in on a name of its own. */
const OWN = 'own.test'
/** There they come to do so once the mail is out. */
const MOVING = 'moving.test'
/** What mail programs, campaigns and link trackers add, in ways that they do. */
const ADDED = [
  'utm_source=mail&utm_medium=email&utm_campaign=a%20b',
  'fbclid=IwAR0_x',
  'mc_cid=1&mc_eid=2&mc_cid=3',
  '_hsenc=p2ANqtz&_hsmi=2&gclid=x&mkt_tok=MTIz',
  'flag',
  '=',
]

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: [HOST, MOVING] })
  const own = { domain: OWN, authDomain: `auth.${OWN}`, superAdmins: [`ann@${OWN}`] }
  await stack.portal('POST', '/sites', own)
})
afterAll(() => stack[Symbol.asyncDispose]())

const linkTo = async (address: string, kind?: Parameters<typeof mailTo>[2]) =>
  new URL(linkIn(await mailTo(stack, address, kind)))
const submitted = async (url: URL) => {
  const browser = new FormBrowser(stack, url.hostname)
  return browser.submit(await browser.get(url.pathname + url.search), {})
}

/** Asks for another address, and gives who asked. */
async function adminWhoMoves(host: string) {
  const pool = new AdminPool(stack, host)
  const bob = await pool.joined('user')
  const wanted = `new-${bob.email}`
  expect((await bob.call('PUT', '/profile', { body: { primaryEmail: wanted } })).status).toBe(200)
  return { before: bob.email, wanted }
}
async function visitorWhoMoves(host: string) {
  const owner = await Owner.of(stack, host)
  const wanted = `new-${owner.email}`
  expect((await owner.send('/address', { username: wanted })).status).toBe(200)
  return { before: owner.email, wanted }
}
async function undo({ before, wanted }: { readonly before: string; readonly wanted: string }) {
  await submitted(await linkTo(wanted, 'address-proof'))
  return linkTo(before, 'address-changed')
}

const LINKS: Readonly<Record<string, (host: string) => Promise<URL>>> = {
  'the invite of a super-admin': (host) => linkTo(`ann@${host}`, 'invite'),
  'the invite of a user': async (host) => {
    const { email } = await new AdminPool(stack, host).invited()
    return linkTo(email, 'invite')
  },
  'the new address of an admin': async (host) =>
    linkTo((await adminWhoMoves(host)).wanted, 'address-proof'),
  'the old address of an admin': async (host) => undo(await adminWhoMoves(host)),
  'the new address of a visitor': async (host) =>
    linkTo((await visitorWhoMoves(host)).wanted, 'address-proof'),
  'the old address of a visitor': async (host) => undo(await visitorWhoMoves(host)),
  'an account that is being deleted': (host) => deletedBy(host),
  'a target of forwarding': async (host) => {
    const ann = await new AdminPool(stack, host).first()
    const mailbox = `info@${host}`
    await ann.call('POST', '/mailboxes', { body: { address: mailbox, owners: [ann.userId] } })
    const target = `target@${host}.example.org`
    const body = { targets: [target] }
    await ann.call('POST', `/mailboxes/${mailbox}/forwarding-targets`, { body })
    return linkTo(target)
  },
}

async function deletedBy(host: string): Promise<URL> {
  const owner = await Owner.of(stack, host)
  expect((await owner.send('/delete', { username: owner.email })).status).toBe(200)
  return linkTo(owner.email, 'account-deleting')
}

describe.each([HOST, OWN])('a mailed link of %s', (host) => {
  test.each(Object.keys(LINKS))(
    'to %s opens its page whatever a mail program adds to it, and works there',
    async (what) => {
      const url = (await LINKS[what]?.(host)) ?? new URL('http://none.test')
      const isOfVisitor = /visitor|deleted/.test(what)
      expect(url.hostname).toBe(isOfVisitor && host === OWN ? `auth.${OWN}` : host)
      const at = (query: string) => open(url.pathname + query, url.hostname)
      const plain = await at(url.search)
      expect(plain.status, plain.text).toBe(200)
      expect(plain.text).toContain('<form')
      for (const added of ADDED) {
        for (const query of [`${url.search}&${added}`, `?${added}&${url.search.slice(1)}`]) {
          const answer = await at(query)
          expect(answer.status, query).toBe(200)
          expect(formOf(answer.text), query).toBe(formOf(plain.text))
        }
      }
      const browser = new FormBrowser(stack, url.hostname)
      const page = await at(`${url.search}&${ADDED[0]}`)
      const passwords = { password: 'Correct-horse-7', confirmPassword: 'Correct-horse-7' }
      const done = await browser.submit(page, what.includes('invite') ? passwords : {})
      expect(done.status, done.text).toBe(200)
    },
  )

  test('without its token says that it is not whole', async () => {
    for (const path of ['onboarding/super-admin', 'address/confirm', 'forwarding/verify']) {
      const answer = await open(`/admin/public/${path}?${ADDED[0]}`, host)
      expect(answer.status, path).toBe(400)
      expect(answer.text, path).toContain('whole link')
    }
  })
})

test('a link that was mailed before the sign-in moved leads to its page', async () => {
  const mailed = {
    new: await LINKS['the new address of a visitor']?.(MOVING),
    old: await LINKS['the old address of a visitor']?.(MOVING),
    deleting: await deletedBy(MOVING),
  }
  const authDomain = `auth.${MOVING}`
  expect((await stack.portal('PATCH', `/sites/${MOVING}`, { authDomain })).status).toBe(200)
  for (const [what, url] of Object.entries(mailed)) {
    expect(url?.hostname, what).toBe(MOVING)
    const walk = await new WalkingBrowser().open(`${url?.href ?? ''}&${ADDED[0]}`)
    expect([what, walk.answer.status]).toEqual([what, 200])
    const done = await new WalkingBrowser().submit(walk, {})
    expect([what, done.answer.status]).toEqual([what, 200])
  }
})

test('no page refuses a parameter that it does not know', async () => {
  const party = await RelyingParty.of(stack, HOST)
  const paths = stack.app.routes
    .filter(({ method, detail }) => method === 'GET' && detail['x-page'] !== undefined)
    .map(({ path }) => path.replace(/\/$/, '').replace(':userPoolId', party.pool.userPoolId))
  expect(paths.length).toBeGreaterThan(20)
  for (const path of paths) {
    const query = path.startsWith('/oidc/') ? party.params().toString() : ''
    const plain = await open(`${path}?${query}`)
    const added = await open(`${path}?${query}&${ADDED[0]}`)
    expect(added.status, path).toBe(plain.status)
    expect(titleOf(added.text), path).toBe(titleOf(plain.text))
  }
})

test('a route of JSON still refuses one', async () => {
  const { json } = await stack.call(HOST, 'GET', `/admin/api/users?${ADDED[1]}`, {
    token: await stack.adminToken(HOST),
  })
  expect(json.error.details).toEqual([{ field: 'fbclid', message: 'is not a known parameter' }])
})

const open = (path: string, host = HOST) => stack.call(host, 'GET', path, { headers: PAGE })

const formOf = (page: string) => /<form[\s\S]*<\/form>/.exec(page)?.[0]
const titleOf = (page: string) => /<title>[^<]*/.exec(page)?.[0]
