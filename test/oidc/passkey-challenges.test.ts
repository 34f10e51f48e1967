import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'
import { FORM, Owner, PASSWORD } from '#test/account-owner.ts'
import { FormBrowser, hiddenFields } from '#test/form-browser.ts'
import type { Answer } from '#test/http-client.ts'
import { SoftDevice } from '#test/soft-device.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

/** At the second, each pool has a name of its own. */
const SITES = ['one.test', 'two.test']
const OWN_NAMES = { adminDomain: 'admin.two.test', authDomain: 'auth.two.test' }
const PLACES = SITES.flatMap((host) =>
  (['data', 'admin'] as const).map((kind) => [host, kind] as const),
)
/** The page is shown again. */
const REFUSED = 400
/** Wrong ones from one network before it waits. */
const FREE = 50

interface Asked {
  readonly challenge: string
  readonly _csrf: string
  readonly sealed: string
}

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', 'http://croft.test'],
] as const)('what a device has signed %s', (_where, baseUrl) => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack({ sites: SITES, config: { baseUrl, trustedProxies: ['127.0.0.1'] } })
    await asSuperuser(stack, (sql) => sql`update pool_user set status = 'ACTIVE'`)
    await stack.portal('PATCH', '/sites/two.test', OWN_NAMES)
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  /** A browser of a user with a passkey, which is signed out. */
  async function holder(host: string, kind: PoolKind) {
    const owner = await Owner.of(stack, host, kind)
    const device = new SoftDevice()
    const added = await add(owner, device, askedBy(await owner.open('/passkey')))
    expect(added.status, added.text).toBe(303)
    return { owner, device, browser: new FormBrowser(stack, owner.party.host) }
  }

  const placeOf = ({ party }: Owner) => ({
    origin: new URL(party.pool.issuer).origin,
    rpId: party.site.domain,
  })

  function add(
    owner: Owner,
    device: SoftDevice,
    { challenge, _csrf, sealed }: Asked,
    clientData: Readonly<Record<string, unknown>> = {},
  ): Promise<Answer> {
    const credential = device.create({ ...placeOf(owner), challenge, clientData })
    const form = { _csrf, challenge: sealed, credential, currentPassword: PASSWORD }
    const body = new URLSearchParams(form).toString()
    return owner.browser.post(`${owner.party.path}/account/passkey`, body, FORM)
  }

  const keysOf = ({ party, sub }: Owner) => stack.context.passkeys.list(party.site, party.pool, sub)

  function signIn(
    { owner, device, browser }: Awaited<ReturnType<typeof holder>>,
    { challenge, _csrf, sealed }: Asked,
    clientData: Readonly<Record<string, unknown>> = {},
    credential = device.get({ ...placeOf(owner), challenge, clientData }, owner.sub),
  ): Promise<Answer> {
    const body = new URLSearchParams({ _csrf, challenge: sealed, credential }).toString()
    return browser.post(owner.party.page('passkey'), body, FORM)
  }

  const sessionsOf = ({ party, sub }: Owner) =>
    stack.context.sessions.list(party.site, party.pool, sub)

  describe.each(PLACES)('at %s, at the %s pool,', (host, kind) => {
    test('signs in with the challenge of its page', async () => {
      const someone = await holder(host, kind)
      const asked = askedBy(await someone.browser.get(someone.owner.party.page('login')))
      const before = (await sessionsOf(someone.owner)).length
      expect((await signIn(someone, asked)).status).toBe(303)
      expect(await sessionsOf(someone.owner)).toHaveLength(before + 1)
    })

    test.each([
      ['no challenge', ''],
      ['a challenge that is not encrypted by the service', 'x'.repeat(120)],
    ])('is refused over an empty challenge, with %s', async (_what, sealed) => {
      const someone = await holder(host, kind)
      const asked = askedBy(await someone.browser.get(someone.owner.party.page('login')))
      const before = (await sessionsOf(someone.owner)).length
      const answer = await signIn(someone, { ...asked, challenge: '', sealed })
      expect(answer.status).toBe(REFUSED)
      expect(answer.headers['set-cookie']).toBeUndefined()
      expect(await sessionsOf(someone.owner)).toHaveLength(before)
      const owner = await Owner.of(stack, host, kind)
      const page = askedBy(await owner.open('/passkey'))
      const known = (await keysOf(owner)).length
      const added = await add(owner, new SoftDevice(), { ...page, challenge: '', sealed })
      expect(added.status).toBe(400)
      expect(await keysOf(owner)).toHaveLength(known)
    })

    test('is refused when it comes again, in the same browser too', async () => {
      const someone = await holder(host, kind)
      const { owner, browser, device } = someone
      const asked = askedBy(await browser.get(owner.party.page('login')))
      const { challenge } = asked
      const credential = device.get({ ...placeOf(owner), challenge }, owner.sub)
      const before = (await sessionsOf(owner)).length
      expect((await signIn(someone, asked, {}, credential)).status).toBe(303)
      // The same, and another signature over the same challenge.
      expect((await signIn(someone, asked, {}, credential)).status).toBe(REFUSED)
      expect((await signIn(someone, asked)).status).toBe(REFUSED)
      await using replica = await startStack({ beside: stack, works: false })
      browser.stack = replica
      expect((await signIn(someone, asked)).status).toBe(REFUSED)
      expect(await sessionsOf(owner)).toHaveLength(before + 1)
    })

    test('is taken once of many at the same moment', async () => {
      const someone = await holder(host, kind)
      const asked = askedBy(await someone.browser.get(someone.owner.party.page('login')))
      const all = await Promise.all(Array.from({ length: 8 }, () => signIn(someone, asked)))
      expect(all.filter(({ status }) => status === 303)).toHaveLength(1)
      expect(all.filter(({ status }) => status === REFUSED)).toHaveLength(7)
    })

    test('makes one key for a challenge', async () => {
      const owner = await Owner.of(stack, host, kind)
      const asked = askedBy(await owner.open('/passkey'))
      const known = (await keysOf(owner)).length
      expect((await add(owner, new SoftDevice(), asked)).status).toBe(303)
      const again = await add(owner, new SoftDevice(), asked)
      expect(again.status).toBe(400)
      expect(await keysOf(owner)).toHaveLength(known + 1)
      // The page that says so has another one.
      expect((await add(owner, new SoftDevice(), askedBy(again))).status).toBe(303)
    })

    test.each([
      ['in a frame of another origin', { crossOrigin: true }],
      ['below a page of another origin', { topOrigin: 'https://evil.example' }],
    ])('is refused when it was signed %s', async (_what, clientData) => {
      const someone = await holder(host, kind)
      const asked = askedBy(await someone.browser.get(someone.owner.party.page('login')))
      expect((await signIn(someone, asked, clientData)).status).toBe(REFUSED)
      const owner = await Owner.of(stack, host, kind)
      const known = (await keysOf(owner)).length
      const page = askedBy(await owner.open('/passkey'))
      expect((await add(owner, new SoftDevice(), page, clientData)).status).toBe(400)
      expect(await keysOf(owner)).toHaveLength(known)
    })

    test('is counted when it is wrong, and its network waits after too many', async () => {
      const someone = await holder(host, kind)
      const from = (address: string) => ({ ...FORM, 'x-forwarded-for': address })
      const wrong = new SoftDevice()
      const send = async (address: string, device: SoftDevice): Promise<Answer> => {
        const page = await someone.browser.get(someone.owner.party.page('login'))
        const { challenge, _csrf, sealed } = askedBy(page)
        const credential = device.get({ ...placeOf(someone.owner), challenge }, someone.owner.sub)
        const body = new URLSearchParams({ _csrf, challenge: sealed, credential }).toString()
        return someone.browser.post(someone.owner.party.page('passkey'), body, from(address))
      }
      const address = `203.0.113.${PLACES.findIndex(([site, pool]) => site === host && pool === kind) + 1}`
      const outcomes = []
      for (let at = 0; at <= FREE; at += 1) outcomes.push((await send(address, wrong)).status)
      expect(outcomes.slice(0, FREE)).toEqual(Array(FREE).fill(REFUSED))
      const refused = await send(address, wrong)
      expect(refused.status).toBe(429)
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
      expect((await send('198.51.100.9', someone.device)).status).toBe(303)
    })
  })
})

/** What the form of the page asks a device to sign. */
function askedBy({ text }: Answer): Asked {
  const form = /<form[^>]*data-passkey[\s\S]*?<\/form>/.exec(text)?.[0] ?? ''
  const options = /data-passkey="([^"]*)"/.exec(form)?.[1] ?? '{}'
  const { challenge } = JSON.parse(decoded(options)) as { readonly challenge: string }
  const { _csrf = '', challenge: sealed = '' } = hiddenFields(form)
  return { challenge, _csrf, sealed }
}

const decoded = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)))
