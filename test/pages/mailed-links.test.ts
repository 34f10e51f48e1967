import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { Owner } from '#test/account-owner.ts'
import { AdminPool } from '#test/admin-api.ts'
import { FormBrowser } from '#test/form-browser.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PAGE } from '#test/static-sites.ts'

const HOST = 'one.test'
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
let pool: AdminPool
beforeAll(async () => {
  stack = await startStack({ sites: [HOST] })
  pool = new AdminPool(stack, HOST)
})
afterAll(() => stack[Symbol.asyncDispose]())

const linkTo = async (address: string, kind?: Parameters<typeof mailTo>[2]) =>
  new URL(linkIn(await mailTo(stack, address, kind)))
const submitted = async (url: URL) => {
  const browser = new FormBrowser(stack, HOST)
  return browser.submit(await browser.get(url.pathname + url.search), {})
}

/** Asks for another address, and gives who asked. */
async function adminWhoMoves() {
  const bob = await pool.joined('user')
  const wanted = `new-${bob.email}`
  expect((await bob.call('PUT', '/profile', { body: { primaryEmail: wanted } })).status).toBe(200)
  return { before: bob.email, wanted }
}
async function visitorWhoMoves() {
  const owner = await Owner.of(stack, HOST)
  const wanted = `new-${owner.email}`
  expect((await owner.send('/address', { username: wanted })).status).toBe(200)
  return { before: owner.email, wanted }
}
async function undo({ before, wanted }: { readonly before: string; readonly wanted: string }) {
  await submitted(await linkTo(wanted, 'address-proof'))
  return linkTo(before, 'address-changed')
}

const LINKS: Readonly<Record<string, () => Promise<URL>>> = {
  'the invite of a super-admin': () => linkTo(`ann@${HOST}`, 'invite'),
  'the invite of a user': async () => linkTo((await pool.invited()).email, 'invite'),
  'the new address of an admin': async () =>
    linkTo((await adminWhoMoves()).wanted, 'address-proof'),
  'the old address of an admin': async () => undo(await adminWhoMoves()),
  'the new address of a visitor': async () =>
    linkTo((await visitorWhoMoves()).wanted, 'address-proof'),
  'the old address of a visitor': async () => undo(await visitorWhoMoves()),
  'an account that is being deleted': async () => {
    const owner = await Owner.of(stack, HOST)
    expect((await owner.send('/delete', { username: owner.email })).status).toBe(200)
    return linkTo(owner.email, 'account-deleting')
  },
  'a target of forwarding': async () => {
    const ann = await pool.first()
    const mailbox = `info@${HOST}`
    await ann.call('POST', '/mailboxes', { body: { address: mailbox, owners: [ann.userId] } })
    const body = { targets: ['target@example.org'] }
    await ann.call('POST', `/mailboxes/${mailbox}/forwarding-targets`, { body })
    return linkTo('target@example.org')
  },
}

describe('a mailed link', () => {
  test.each(Object.keys(LINKS))(
    'to %s opens its page whatever a mail program adds to it, and works there',
    async (what) => {
      const url = (await LINKS[what]?.()) ?? new URL('http://none.test')
      const plain = await open(url.pathname + url.search)
      expect(plain.status, plain.text).toBe(200)
      expect(plain.text).toContain('<form')
      for (const added of ADDED) {
        for (const query of [`${url.search}&${added}`, `?${added}&${url.search.slice(1)}`]) {
          const answer = await open(url.pathname + query)
          expect(answer.status, query).toBe(200)
          expect(formOf(answer.text), query).toBe(formOf(plain.text))
        }
      }
      const browser = new FormBrowser(stack, HOST)
      const page = await open(`${url.pathname}${url.search}&${ADDED[0]}`)
      const passwords = { password: 'Correct-horse-7', confirmPassword: 'Correct-horse-7' }
      const done = await browser.submit(page, what.includes('invite') ? passwords : {})
      expect(done.status, done.text).toBe(200)
    },
  )

  test('without its token says that it is not whole', async () => {
    for (const path of ['onboarding/super-admin', 'address/confirm', 'forwarding/verify']) {
      const answer = await open(`/admin/public/${path}?${ADDED[0]}`)
      expect(answer.status, path).toBe(400)
      expect(answer.text, path).toContain('whole link')
    }
  })
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

const open = (path: string) => stack.call(HOST, 'GET', path, { headers: PAGE })

const formOf = (page: string) => /<form[\s\S]*<\/form>/.exec(page)?.[0]
const titleOf = (page: string) => /<title>[^<]*/.exec(page)?.[0]
