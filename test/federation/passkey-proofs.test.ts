import { createHash, randomBytes } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CHALLENGE_MS } from '#identity/passkeys/model.ts'
import { BETTER, FORM, Owner, PASSWORD } from '#test/account-owner.ts'
import type { FakeGoogle } from '#test/fake-google.ts'
import { hiddenFields } from '#test/form-browser.ts'
import { googleFor } from '#test/google-sign-in.ts'
import type { Answer } from '#test/http-client.ts'
import { mailTo } from '#test/outbox.ts'
import { SoftDevice } from '#test/soft-device.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const SITES = ['one.test', 'two.test']
const ADD = '/data/auth/password/add'
const LINK = '/data/auth/providers/google/link/start'

let aheadMs = 0
const now = (): Date => new Date(Date.now() + aheadMs)

interface Started {
  readonly options: {
    readonly challenge: string
    readonly rpId: string
    readonly userVerification: string
  }
  readonly challenge: string
}

describe.each([
  ['over TLS, behind a proxy', 'https://croft.test'],
  ['over plain HTTP', undefined],
] as const)('a passkey as the proof of a JSON call %s', (_where, baseUrl) => {
  let stack: Stack
  let google: FakeGoogle
  beforeAll(async () => {
    stack = await startStack({
      sites: SITES,
      platform: { clock: { now } },
      ...(baseUrl && { config: { baseUrl } }),
    })
    google = await googleFor(stack, SITES)
  })
  afterAll(async () => {
    await google[Symbol.asyncDispose]()
    await stack[Symbol.asyncDispose]()
  })

  /** An account with a passkey and no password, and an application that has a token of it. */
  async function holder(host: string) {
    const owner = await Owner.of(stack, host)
    const device = new SoftDevice()
    const { text } = await owner.open('/passkey')
    const form = /<form[^>]*data-passkey[\s\S]*?<\/form>/.exec(text)?.[0] ?? ''
    const asked = /data-passkey="([^"]*)"/.exec(form)?.[1] ?? '{}'
    const { challenge } = JSON.parse(asked.replaceAll('&#34;', '"')) as { challenge: string }
    const credential = device.create({ ...placeOf(owner), challenge })
    const body = new URLSearchParams({
      ...hiddenFields(form),
      credential,
      currentPassword: PASSWORD,
    })
    const path = `${owner.party.path}/account/passkey`
    const added = await owner.browser.post(path, body.toString(), FORM)
    expect(added.status, added.text).toBe(303)
    await asSuperuser(stack, (sql) => sql`delete from user_password where sub = ${owner.sub}`)
    return { owner, device, ...(await application(owner)) }
  }

  async function application(owner: Owner) {
    const tokens = await owner.party.tokens(owner.email)
    let token = tokens.access_token
    const post = (path: string, payload: object): Promise<Answer> =>
      stack.call(owner.party.host, 'POST', path, { token, body: payload })
    return {
      post,
      /** Another token of the same sign-in. */
      refresh: async () => {
        const answer = await owner.party.refresh(tokens.refresh_token)
        token = answer.json.access_token
      },
      start: async (action: 'password' | 'google'): Promise<Started> => {
        const answer = await post('/data/auth/proof/start', { action, method: 'passkey' })
        expect(answer.status, answer.text).toBe(200)
        expect(answer.headers['cache-control']).toBe('no-store')
        return answer.json.data
      },
    }
  }
  type Holder = Awaited<ReturnType<typeof holder>>

  const placeOf = ({ party }: Owner) => ({
    origin: new URL(party.pool.issuer).origin,
    rpId: party.site.domain,
  })

  /** What an application sends once the device has signed. */
  const signed = ({ owner, device }: Pick<Holder, 'owner' | 'device'>, started: Started) => {
    const request = { ...placeOf(owner), challenge: started.options.challenge }
    const credential: unknown = JSON.parse(device.get(request, owner.sub))
    return { passkey: { credential, challenge: started.challenge } }
  }

  const hasPassword = async ({ owner }: Pick<Holder, 'owner'>) =>
    stack.context.ownPasswords.has(owner.party.site, owner.party.pool, owner.sub)

  const linkBody = ({ owner }: Holder) => ({
    redirectUri: owner.party.redirectUri,
    codeChallenge: createHash('sha256').update(randomBytes(8)).digest('base64url'),
    codeChallengeMethod: 'S256',
    state: 'st',
  })

  describe.each(SITES)('at %s', (host) => {
    const other = SITES.find((site) => site !== host) ?? ''

    test('adds a password', async () => {
      const someone = await holder(host)
      const started = await someone.start('password')
      expect(started.options).toMatchObject({ rpId: host, userVerification: 'required' })
      const added = await someone.post(ADD, {
        password: BETTER,
        proof: signed(someone, started),
      })
      expect(added.status, added.text).toBe(200)
      await mailTo(stack, someone.owner.email, 'password-changed')
      expect(await someone.owner.mayUse(BETTER)).toBe(true)
    })

    test('starts to link Google', async () => {
      const someone = await holder(host)
      const proof = signed(someone, await someone.start('google'))
      const linking = await someone.post(LINK, { ...linkBody(someone), proof })
      expect(linking.status, linking.text).toBe(200)
      expect(linking.json.data.authorizeUrl).toContain('/oauth2/authorize?')
      expect(linking.headers['set-cookie']).toContain('croft_link')
    })

    test.each([
      [
        'was given for another action',
        async (someone: Holder) => signed(someone, await someone.start('google')),
      ],
      [
        'was given in another sign-in of the account',
        async (someone: Holder) => {
          const { start } = await application(someone.owner)
          return signed(someone, await start('password'))
        },
      ],
      [
        'was given for another account of the site',
        async (someone: Holder) => signed(someone, await (await holder(host)).start('password')),
      ],
      [
        'was given at another site',
        async (someone: Holder) => signed(someone, await (await holder(other)).start('password')),
      ],
      [
        'was given for this, and signed by another account’s device',
        async (someone: Holder) => signed(await holder(host), await someone.start('password')),
      ],
      [
        'was given for this, and signed by a device that is not registered',
        async ({ owner, start }: Holder) =>
          signed({ owner, device: new SoftDevice() }, await start('password')),
      ],
      [
        'was changed',
        async (someone: Holder) => {
          const started = await someone.start('password')
          // The last letter has bits that say nothing.
          const [first = '', ...rest] = started.challenge
          const challenge = [first === 'A' ? 'B' : 'A', ...rest].join('')
          return signed(someone, { ...started, challenge })
        },
      ],
      [
        'is not the one that was signed',
        async (someone: Holder) => {
          const [first, second] = [await someone.start('password'), await someone.start('password')]
          return signed(someone, { ...first, challenge: second.challenge })
        },
      ],
      [
        'is empty',
        async (someone: Holder) =>
          signed(someone, {
            ...(await someone.start('password')),
            challenge: '',
          }),
      ],
      [
        'has expired',
        async (someone: Holder) => {
          const proof = signed(someone, await someone.start('password'))
          aheadMs += CHALLENGE_MS
          await someone.refresh()
          return proof
        },
      ],
      [
        'was used for a call that went through',
        async (someone: Holder) => {
          const proof = signed(someone, await someone.start('password'))
          const added = await someone.post(ADD, { password: BETTER, proof })
          expect(added.status, added.text).toBe(200)
          await asSuperuser(
            stack,
            (sql) => sql`delete from user_password where sub = ${someone.owner.sub}`,
          )
          return proof
        },
      ],
      [
        'was used for a call that failed',
        async (someone: Holder) => {
          const proof = signed(someone, await someone.start('password'))
          expect((await someone.post(ADD, { password: 'short', proof })).status).toBe(400)
          return proof
        },
      ],
    ])('is refused when its challenge %s', async (_what, proofOf) => {
      const someone = await holder(host)
      const proof = await proofOf(someone)
      const refused = await someone.post(ADD, { password: BETTER, proof })
      expect(refused.status, refused.text).toBe(400)
      expect(refused.json.error).toMatchObject({
        code: 'ValidationError',
        message: expect.stringMatching(/passkey/),
      })
      expect(await hasPassword(someone)).toBe(false)
      // Another challenge is as good as ever.
      const again = { password: BETTER, proof: signed(someone, await someone.start('password')) }
      expect((await someone.post(ADD, again)).status).toBe(200)
    })

    test('is what an account with a passkey gives, and no code', async () => {
      const someone = await holder(host)
      for (const proof of [{ proofCode: '123456' }, { currentPassword: PASSWORD }]) {
        const refused = await someone.post(ADD, { password: BETTER, proof })
        expect(refused.status, refused.text).toBe(400)
      }
      const code = { action: 'password', method: 'code' }
      expect((await someone.post('/data/auth/proof/start', code)).status).toBe(400)
      const none = await someone.post(ADD, { password: BETTER })
      expect(none).toMatchObject({
        status: 403,
        json: { error: { code: 'RecentSignInRequired' } },
      })
      expect(await hasPassword(someone)).toBe(false)
    })
  })
})
