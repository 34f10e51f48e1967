import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { FakeGoogle } from '#test/fake-google.ts'
import { textOf } from '#test/form-browser.ts'
import { accountOf, googleFor, walkToGoogle } from '#test/google-sign-in.ts'
import { codeIn, mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { PASSWORD, type SignedInPerson, methodsOf, signUp } from '#test/visitors.ts'
import { type Walk, WalkingBrowser } from '#test/walking-browser.ts'

const HOST = 'one.test'

let stack: Stack
let google: FakeGoogle
let issuer: string
beforeAll(async () => {
  stack = await startStack()
  google = await googleFor(stack, [HOST])
  issuer = (await stack.call(HOST, 'GET', '/data/auth/config')).json.data.issuer
})
afterAll(async () => {
  await google[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

let people = 0
/** A person with a password, and a Google account of another address. */
async function somebody(): Promise<SignedInPerson & { readonly google: string }> {
  const name = `p${++people}`
  const person = await signUp(stack, HOST, `${name}@example.test`)
  google.person = { subject: `g-${name}`, email: `${name}@gmail.test` }
  return { ...person, google: `${name}@gmail.test` }
}

const isAccount = ({ pathname, search }: URL): boolean =>
  pathname.endsWith('/account') && search === ''
const open = (browser: WalkingBrowser) => browser.open(`${issuer}/account`, () => false)
/** Links Google or takes it off, whichever there is to do, with the password. */
const press = async (browser: WalkingBrowser, currentPassword = PASSWORD) =>
  browser.submit(await browser.open(`${issuer}/account/google`, () => false), { currentPassword })
const wordsOf = ({ answer }: Walk): string => textOf(answer.text)
const methods = async ({ token }: SignedInPerson) => methodsOf(stack, HOST, token)

describe('Google on the account’s page', () => {
  test('is linked, signs in, and is taken off again', async () => {
    const person = await somebody()
    const { browser } = person
    const page = await open(browser)
    expect(wordsOf(page)).toContain('Google Not linked')
    const linked = await press(browser)
    expect(isAccount(linked.url)).toBe(true)
    expect(wordsOf(linked)).toContain(`Google ${person.google}`)
    await mailTo(stack, person.email, 'provider-linked')
    expect(await accountOf(stack, await walkToGoogle(stack, HOST))).toMatchObject({
      sub: person.sub,
    })

    const off = await press(browser)
    expect(wordsOf(off)).toContain('Google is taken off your account.')
    expect(wordsOf(off)).toContain('Google Not linked')
    await mailTo(stack, person.email, 'provider-unlinked')
    expect((await methods(person)).google).toEqual({ enabled: false })

    // The session is Google's by now: it must not stand for another visit there.
    const again = await press(browser)
    expect(wordsOf(again)).toContain(`Google ${person.google}`)
  })

  test('is not taken off an account without a password, until it has one', async () => {
    await somebody()
    google.person = { subject: 'g-only', email: 'only@gmail.test' }
    const browser = new WalkingBrowser()
    await walkToGoogle(stack, HOST, browser)
    const page = await open(browser)
    expect(wordsOf(page)).toContain('Password Not set')
    const refused = await browser.open(`${issuer}/account/google`, () => false)
    expect(refused.answer.status).toBe(409)
    expect(wordsOf(refused)).toContain('Set a password first')
    const form = await browser.open(`${issuer}/account/password`, () => false)
    const password = 'Tr4vel-light'
    const unproven = await browser.submit(form, { password, proofCode: '000000' })
    expect(unproven.answer.status).toBe(400)
    const asked = await browser.submit(form, { password, action: 'send-proof-code' })
    expect(wordsOf(asked)).toContain('We have sent a code to only@gmail.test.')
    const proofCode = codeIn(await mailTo(stack, 'only@gmail.test', 'proof'))
    const set = await browser.submit(asked, { password, proofCode })
    expect(wordsOf(set)).toContain('Password Set')
    expect(wordsOf(await press(browser, 'Tr4vel-light'))).toContain('Google Not linked')
  })

  test('is not linked when it belongs to another account, or its owner says no', async () => {
    const first = await somebody()
    await press(first.browser)
    const second = await signUp(stack, HOST, `p${++people}@example.test`)
    const taken = await press(second.browser)
    expect(wordsOf(taken)).toContain('That Google account belongs to another account here.')
    const third = await signUp(stack, HOST, `p${++people}@example.test`)
    google.person = undefined
    const refused = await press(third.browser)
    expect(wordsOf(refused)).toContain('Google was not linked. You can try again.')
    for (const person of [second, third]) {
      expect((await methods(person)).google).toEqual({ enabled: false })
    }
  })

  test('is linked to no other account by an address that its owner passes on', async () => {
    const attacker = await somebody()
    const sent = await press(attacker.browser)
    const ticketed = sent.steps.map(({ url }) => url).find((url) => url.includes('link_ticket='))
    const victim = await somebody()
    const walk = await victim.browser.open(ticketed ?? '', () => false)
    expect(walk.answer.status).toBe(403)
    const stranger = await new WalkingBrowser().open(ticketed ?? '', () => false)
    expect(stranger.url.pathname).toMatch(/\/login$/)
    expect((await methods(victim)).google).toEqual({ enabled: false })
  })

  test('says nothing that the page’s address says', async () => {
    const { browser } = await somebody()
    const query = new URLSearchParams({ error: 'x', error_description: 'Call +1 555 now' })
    const page = await browser.open(`${issuer}/account?${query.toString()}`, () => false)
    expect(wordsOf(page)).toContain('Google was not linked.')
    expect(page.answer.text).not.toContain('555')
  })
})
