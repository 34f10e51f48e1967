import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { SYSTEM } from '#base/actor.ts'
import { Owner, PASSWORD } from '#test/account-owner.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import { allMailTo, linkIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SITES = ['one.test', 'two.test']
const DAY_MS = 24 * 3_600_000

let aheadMs = 0
const now = (): Date => new Date(Date.now() + aheadMs)

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('an account that its owner deletes %s', (_where, baseUrl) => {
  let stack: Stack
  const options = { platform: { clock: { now } }, ...(baseUrl && { config: { baseUrl } }) }
  beforeAll(async () => {
    stack = await startStack({ sites: SITES, ...options })
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  const deleted = async (owner: Owner) => {
    await owner.signIn(-aheadMs)
    const gone = await owner.send('/delete', { username: owner.email.toUpperCase() })
    expect(gone.status, textOf(gone.text)).toBe(200)
    return gone
  }
  const linkOf = async (email: string) => {
    const url = new URL(linkIn(await mailTo(stack, email, 'account-deleting')))
    return `${url.pathname}${url.search}`
  }
  const visitor = async ({ party, sub }: Owner) => {
    const token = await stack.adminToken(party.host, 'admin')
    return stack.call(party.host, 'GET', `/admin/data/users/${sub}`, { token })
  }

  describe.each(SITES)('at %s', (host) => {
    const other = SITES.find((site) => site !== host) ?? ''

    test('is out of use at once, waits for a week, and is restored unchanged', async () => {
      const owner = await Owner.of(stack, host)
      const tokens = await owner.party.tokens(owner.email)
      const second = new FormBrowser(stack, host)
      for (const [name, value] of owner.browser.cookies) second.cookies.set(name, value)
      const said = await deleted(owner)
      expect(textOf(said.text)).toContain(`We have mailed ${owner.email} a link`)
      expect((await owner.open()).status).toBe(303)
      expect((await second.get(`${owner.party.path}/account`)).status).toBe(303)
      expect(await owner.mayUse(PASSWORD)).toBe(false)
      expect(await owner.party.isTaken(tokens.access_token)).toBe(false)
      expect((await owner.party.refresh(tokens.refresh_token)).status).toBe(400)
      expect((await visitor(owner)).json).toMatchObject({
        status: 'DELETING',
        deletedAt: expect.stringMatching(/Z$/),
      })

      const link = await linkOf(owner.email)
      const browser = new FormBrowser(stack, host)
      // To open it changes nothing: programs that scan mail do.
      const page = await browser.get(link)
      expect(textOf(page.text)).toContain(`The account ${owner.email} at ${host} is deleted on`)
      expect((await visitor(owner)).json.status).toBe('DELETING')
      const restored = await browser.submit(page, {})
      expect(textOf(restored.text)).toContain('Your account is yours again')
      expect(await owner.mayUse(PASSWORD)).toBe(true)
      expect((await visitor(owner)).json).toMatchObject({ status: 'ACTIVE', deletedAt: null })
      expect((await browser.get(link)).status).toBe(410)
      const { json } = await stack.portal('GET', `/sites/${host}/audit?sub=${owner.sub}&limit=50`)
      const events = json.items.map(({ event }: { event: string }) => event)
      expect(events).toEqual(expect.arrayContaining(['user.deletion-begun', 'user.restored']))
    })

    test.each([
      ['no address', ''],
      ['another one', 'x@visitors.test'],
    ])('is not deleted when %s is typed', async (_what, username) => {
      const owner = await Owner.of(stack, host)
      await owner.signIn(-aheadMs)
      const refused = await owner.send('/delete', { username })
      expect(refused.status).toBe(400)
      expect(await owner.mayUse(PASSWORD)).toBe(true)
      expect(await allMailTo(stack, owner.email, 'account-deleting')).toEqual([])
    })

    test('keeps its address, without telling that it is there', async () => {
      const owner = await Owner.of(stack, host)
      const { party } = owner
      await deleted(owner)
      const mailed = await mailTo(stack, owner.email, 'account-deleting')
      const first = await linkOf(owner.email)
      const answers = []
      for (const email of [owner.email, `nobody-${owner.email}`]) {
        const browser = new FormBrowser(stack, host)
        const login = await browser.submit(await browser.get(party.page('login')), {
          username: email,
          password: PASSWORD,
        })
        const signUp = await browser.submit(await browser.get(party.page('signup')), {
          username: email,
          password: PASSWORD,
        })
        const forgot = await browser.submit(await browser.get(party.page('forgotPassword')), {
          username: email,
        })
        const words = (text: string) => textOf(text).replaceAll(email, 'X')
        answers.push([login.status, words(login.text), signUp.status, forgot.status])
      }
      expect(answers[0]).toEqual(answers[1])
      // Its owner is mailed the link again, and no code.
      await mailTo(stack, owner.email, 'account-deleting', mailed)
      expect(await allMailTo(stack, owner.email, 'reset')).toEqual([])
      expect(await allMailTo(stack, owner.email, 'verification')).toEqual([])
      expect(await linkOf(owner.email)).not.toBe(first)
      expect((await new FormBrowser(stack, host).get(first)).status).toBe(410)
    })

    test('cannot be restored by another person', async () => {
      const owner = await Owner.of(stack, host)
      await deleted(owner)
      const link = await linkOf(owner.email)
      expect((await new FormBrowser(stack, other).get(link)).status).toBe(404)
      const wrong = link.replace(/token=.*/, 'token=x')
      expect((await new FormBrowser(stack, host).get(wrong)).status).toBe(410)
    })

    test('is given back by an admin, or deleted at once', async () => {
      const owner = await Owner.of(stack, host)
      await deleted(owner)
      const link = await linkOf(owner.email)
      const token = await stack.adminToken(host, 'admin')
      const path = `/admin/data/users/${owner.sub}`
      await stack.context.visitorAccounts.disable(owner.party.site, owner.sub, SYSTEM)
      expect((await new FormBrowser(stack, host).get(link)).status).toBe(410)
      await stack.context.visitorAccounts.enable(owner.party.site, owner.sub, SYSTEM)
      expect((await visitor(owner)).json).toMatchObject({ status: 'ACTIVE', deletedAt: null })
      await deleted(owner)
      expect((await stack.call(host, 'DELETE', path, { token })).status).toBeLessThan(300)
      expect((await visitor(owner)).status).toBe(404)
    })

    test('goes after seven days, on whatever replica works then, and leaves its address', async () => {
      const owner = await Owner.of(stack, host)
      const later = await Owner.of(stack, host)
      await deleted(owner)
      const link = await linkOf(owner.email)
      aheadMs += 2 * DAY_MS
      await deleted(later)
      aheadMs += 5 * DAY_MS + 1000
      expect((await new FormBrowser(stack, host).get(link)).status).toBe(410)
      await stack.context.accountDeletions.run(owner.party.site.siteId)
      await mailTo(stack, owner.email, 'account-deleted')
      expect((await visitor(owner)).status).toBe(404)
      expect((await visitor(later)).json.status).toBe('DELETING')
      expect(await owner.party.user(owner.email)).not.toBe(owner.sub)
    })
  })
})
