import { decodeJwt } from 'jose'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { PASSWORD } from '#test/account-owner.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { BROWSER_PLACES, ownNames } from '#test/browser-sites.ts'
import { chromiumMissing, launchChromium, openTab, sendForm } from '#test/browser.ts'
import { startClientApp } from '#test/client-app.ts'
import { allMailTo, mailTo } from '#test/outbox.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { holdSignIn } from '#test/signed-in-browser.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'
import { startTlsFront } from '#test/tls-front.ts'

const ORIGIN = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
const MINUTE_MS = 60_000

/** What the library holds of a person who is signed in. */
interface Held {
  readonly access_token: string
  readonly id_token: string
  readonly profile: Readonly<Record<string, unknown>>
}

interface Called {
  readonly status: number
  readonly body: unknown
}

type Request = readonly [method: string, path: string, body: object]

const missing = chromiumMissing()

describe.skipIf(missing).each(BROWSER_PLACES)(
  'an application for admins in Chromium, $scheme',
  ({ scheme, shared, apart }) => {
    const resources = new AsyncDisposableStack()
    let stack: Stack
    let chromium: Browser
    /** Of the application, and of the installation: its pages may call the administration of every site. */
    let origin: string
    beforeAll(async () => {
      const keyHashes: string[] = []
      const portOf = async (port: number): Promise<number> => {
        if (scheme === 'http') return port
        const front = resources.use(await startTlsFront(port))
        keyHashes.push(front.keyHash)
        return front.port
      }
      const app = resources.use(await startClientApp())
      origin = `${scheme}://localhost:${await portOf(Number(new URL(app.origin).port))}`
      const config = { baseUrl: origin }
      stack = resources.use(await startStack({ sites: [shared, apart], config }))
      await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
      chromium = await launchChromium(await portOf(stack.port), keyHashes.join(',') || undefined)
      resources.defer(() => chromium.close())
    })
    afterAll(() => resources.disposeAsync())

    describe.each([
      ['on the origin of the site', shared],
      ['on an origin of its own', apart],
    ])('%s', (_where, host) => {
      const ann = `ann@${host}`
      const box = `box@${host}`
      const wanted = `taken@${host}`
      const copy = `copy@${host}.example`
      let bob: Member
      let party: RelyingParty
      let home: string
      beforeAll(async () => {
        bob = await new AdminPool(stack, host).joined('admin')
        if (host === apart) {
          await stack.portal('PATCH', `/sites/${host}`, ownNames(host))
        }
        party = await RelyingParty.of(stack, host, 'admin')
        home = `${origin}/${party.host}/admin/`
        const client = { redirectUris: [`${home}callback`], logoutUris: [home] }
        const settings = { admin: { clients: { default: client } } }
        await stack.portal('PATCH', `/sites/${host}/auth`, settings)
        await stack.portal('POST', `/sites/${host}/mailboxes`, { address: box, owners: [ann] })
        const { site, pool } = party
        const account = { sub: await party.user(ann), password: PASSWORD }
        await stack.context.ownPasswords.add({ site, pool, origin: ORIGIN }, account)
      })

      /** One for each effect: a secret, mail, another account, and a secret again. */
      const requests = (): readonly Request[] => [
        ['PUT', '/admin/data/env-vars', { variables: { SET: { value: 'v', secret: true } } }],
        ['POST', `/admin/api/mailboxes/${box}/forwarding-targets`, { targets: [copy] }],
        ['PUT', `/admin/api/users/${bob.userId}/profile`, { primaryEmail: wanted }],
        [
          'POST',
          '/admin/data/iac/jobs',
          { mode: 'apply', definition: { envVars: [{ name: 'SENT', value: 'v', secret: true }] } },
        ],
      ]

      /** What there is of the effects. */
      async function stored() {
        const token = await stack.adminToken(host)
        const read = async (path: string) => {
          const answer = await stack.call(party.host, 'GET', `/admin${path}`, { token })
          if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
          return answer.json
        }
        const namesIn = async <Name extends string>(path: string, name: Name) => {
          const { items } = (await read(path)) as { items: readonly Record<Name, string>[] }
          return items.map((item) => item[name])
        }
        return {
          variables: await namesIn('/data/env-vars', 'name'),
          jobs: await namesIn('/data/iac/jobs', 'status'),
          targets: await namesIn(`/api/mailboxes/${box}/forwarding-targets`, 'target'),
          pendingEmail: (await read(`/api/users/${bob.userId}/profile`)).pendingEmail,
        }
      }
      const NOTHING = { variables: [], jobs: [], targets: [], pendingEmail: undefined }

      const ask = <Told = Held>(page: Page, question: string): Promise<Told> =>
        page.evaluate(`app.then((app) => app.${question})`)
      const leave = async (page: Page, question: string) => {
        const loaded = page.waitForEvent('load')
        await page.evaluate(`void app.then((app) => app.${question})`)
        await loaded
      }
      /** What the page's fetch gets of each request. */
      async function called(page: Page, token: string): Promise<Called[]> {
        const answers = []
        for (const [method, path, body] of requests()) {
          const told = `call('${path}', '${token}', ${JSON.stringify(body)}, '${method}')`
          answers.push(await ask<Called>(page, told))
        }
        return answers
      }
      const signedInAt = ({ id_token: token }: Held) => Number(decodeJwt(token)['auth_time']) * 1000

      test('sends its user through the sign-in before what outlasts a token', async () => {
        await using tab = await openTab(chromium)
        const { page } = tab
        const authTime = new Date(Date.now() - 16 * MINUTE_MS)
        await holdSignIn(page, party, await party.signIn(await party.user(ann), { authTime }))
        await page.goto(home)
        // The browser is signed in: no page asks for anything.
        await leave(page, 'signIn()')
        const stale = await ask(page, 'arrival')
        expect(stale.profile).toMatchObject({ email: ann })
        const error = { code: 'RecentSignInRequired', message: expect.stringContaining('max_age') }
        const refused = requests().map(() => ({
          status: 403,
          body: { error: expect.objectContaining(error) },
        }))
        expect(await called(page, stale.access_token)).toEqual(refused)
        const renewed = await ask(page, 'renew()')
        expect(renewed.access_token).not.toBe(stale.access_token)
        expect(await called(page, renewed.access_token)).toEqual(refused)
        expect(await stored()).toEqual(NOTHING)
        expect(await allMailTo(stack, wanted)).toEqual([])
        expect(await allMailTo(stack, copy)).toEqual([])

        await leave(page, 'signIn({ max_age: 900 })')
        expect(await page.title()).toBe(`Sign in · ${host}`)
        expect(new URL(page.url()).hostname).toBe(party.host)
        await sendForm(page, { username: ann, password: PASSWORD })
        const fresh = await ask(page, 'arrival')
        expect(fresh.profile).toMatchObject({ email: ann, sub: stale.profile['sub'] })
        expect(signedInAt(fresh)).toBeGreaterThan(signedInAt(stale) + 15 * MINUTE_MS)
        const done = await called(page, fresh.access_token)
        expect(done.map(({ status }) => status)).toEqual(requests().map(() => 200))
        await expect.poll(stored).toEqual({
          variables: ['SENT', 'SET'],
          jobs: ['succeeded'],
          targets: [copy],
          pendingEmail: wanted,
        })
        await mailTo(stack, wanted, 'address-proof')
        expect(tab.complaints).toEqual([])
      })

      test('gets nothing with the token of a visitor, however fresh', async () => {
        await using tab = await openTab(chromium)
        const before = await stored()
        const visitors = await RelyingParty.of(stack, host)
        const { access_token: token } = await visitors.tokens('vic@example.org')
        await tab.page.goto(home)
        const answers = await called(tab.page, token)
        expect(answers.map(({ status }) => status)).toEqual(requests().map(() => 401))
        expect(await stored()).toEqual(before)
      })
    })
  },
)
