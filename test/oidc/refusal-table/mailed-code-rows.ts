import { expect } from 'vitest'

import type { RelyingParty } from '#test/relying-party.ts'

import { type Attack, PASSWORD, type Row, type World } from './world.ts'

export const BETTER = 'Another-Horse-8-Staple'
const NO_GOOD = '400 The code is wrong, or no longer good: ask for a new one.'
const TRIES = 5

type SigningUp = Awaited<ReturnType<World['signingUp']>>
type Recovering = Awaited<ReturnType<World['recovering']>>

/** With the page of another sign-up. */
const signUp =
  (
    attack: (own: SigningUp, world: World) => Promise<Attack> | Attack,
  ): ((world: World) => Promise<Attack>) =>
  async (world) =>
    attack(await world.signingUp(), world)

/** With the page of another reset. The old password is good afterwards. */
const reset =
  (attack: (own: Recovering, world: World) => Promise<Attack> | Attack) =>
  async (world: World): Promise<Attack> => {
    const own = await world.recovering()
    const attacked = await attack(own, world)
    return { ...attacked, afterwards: () => stillSignsIn(world, own.email) }
  }

async function stillSignsIn(world: World, email: string): Promise<void> {
  const browser = world.browser()
  const page = await browser.get(world.one.page('login'))
  const answer = await browser.submit(page, { username: email, password: PASSWORD })
  expect(answer.headers['location']).toContain('code=')
}

const enter = ({ browser, page }: SigningUp, code: string) => browser.submit(page, { code })

const renew = ({ browser, page }: Pick<Recovering, 'browser' | 'page'>, code: string) =>
  browser.submit(page, { code, password: BETTER })

/** With the code of another user. */
const resetOf =
  (party: (world: World) => RelyingParty, email: (own: Recovering, world: World) => string) =>
  async (own: Recovering, world: World): Promise<Attack> => {
    const other = await world.recovering(party(world), email(own, world))
    return { send: () => renew(own, other.code), changes: ['user_code'] }
  }

const theSame = ({ email }: Recovering): string => email

const another = (_own: Recovering, world: World): string => world.email()

export const MAILED_CODE_ROWS: readonly Row[] = [
  ['a wrong code of a sign-up', NO_GOOD, signUp(wrongCode)],
  ['a sixth wrong code of a sign-up', NO_GOOD, signUp((own) => sixth(own, own.wrong))],
  ['the right code of a sign-up, sixth', NO_GOOD, signUp((own) => sixth(own, own.code))],
  ['a code of a sign-up that is too old', NO_GOOD, signUp(oldSignUp)],
  ['a code of a sign-up that was used', NO_GOOD, signUp(usedSignUp)],
  ['a code of a sign-up that was sent again', NO_GOOD, signUp(formerCode)],
  ['a code of the same address’s next sign-up', NO_GOOD, signUp(ofSecondSignUp)],
  ['a code of another address’s sign-up', NO_GOOD, signUp(ofAnotherSignUp)],
  ['a code of another site’s sign-up', NO_GOOD, signUp(ofAnotherSite)],
  ['a code under another address, over the API', '400 CodeMismatchException', signUp(overTheApi)],
  ['the page of a sign-up in another browser', '303 login', signUp(inAnotherBrowser)],
  ['the page of a sign-up at the other pool', '303 login', signUp(atTheOtherPool)],
  ['a sign-up of an admin', '403 SignUpDisabled', adminSignUp],
  ['a wrong code of a reset', NO_GOOD, reset(wrongReset)],
  ['a sixth wrong code of a reset', NO_GOOD, reset((own) => sixthReset(own, own.wrong))],
  ['the right code of a reset, sixth', NO_GOOD, reset((own) => sixthReset(own, own.code))],
  ['a code of a reset that is too old', NO_GOOD, reset(oldReset)],
  ['a code of a reset that was used', NO_GOOD, usedReset],
  ['a code of another account’s reset', NO_GOOD, reset(resetOf(({ one }) => one, another))],
  ['a code of the other pool’s reset', NO_GOOD, reset(resetOf(({ admin }) => admin, theSame))],
  ['a code of another site’s reset', NO_GOOD, reset(resetOf(({ two }) => two, theSame))],
  ['the page of a reset in another browser', '303 forgotPassword', reset(resetElsewhere)],
]

function wrongCode(own: SigningUp): Attack {
  return {
    send: () => enter(own, own.wrong),
    changes: ['pending_sign_up'],
    afterwards: async () =>
      expect((await enter(own, own.code)).headers['location']).toContain('code='),
  }
}

async function sixth(own: SigningUp, code: string): Promise<Attack> {
  for (let count = 0; count < TRIES; count += 1) await enter(own, own.wrong)
  return { send: () => enter(own, code) }
}

async function oldSignUp(own: SigningUp, world: World): Promise<Attack> {
  await world.expire('pending_sign_up', 'email', own.email)
  return { send: () => enter(own, own.code) }
}

async function usedSignUp(own: SigningUp): Promise<Attack> {
  await enter(own, own.code)
  return { send: () => enter(own, own.code) }
}

async function formerCode(own: SigningUp, world: World): Promise<Attack> {
  const newCode = await world.newCode(own.email, 'verification')
  await own.browser.submit(own.page, { action: 'resend' })
  const newer = await newCode()
  // One time in a million it is the same.
  const former = newer === own.code ? own.wrong : own.code
  return {
    send: () => enter(own, former),
    changes: ['pending_sign_up'],
    afterwards: async () =>
      expect((await enter(own, newer)).headers['location']).toContain('code='),
  }
}

async function ofSecondSignUp(own: SigningUp, world: World): Promise<Attack> {
  const second = await world.signingUp(world.one, own.email)
  return { send: () => enter(own, second.code), changes: ['pending_sign_up'] }
}

async function ofAnotherSignUp(own: SigningUp, world: World): Promise<Attack> {
  const other = await world.signingUp()
  return {
    send: () => enter(own, other.code),
    changes: ['pending_sign_up'],
    afterwards: async () =>
      expect((await enter(other, other.code)).headers['location']).toContain('code='),
  }
}

async function ofAnotherSite(own: SigningUp, world: World): Promise<Attack> {
  const other = await world.signingUp(world.two, own.email)
  return { send: () => enter(own, other.code), changes: ['pending_sign_up'] }
}

async function overTheApi(own: SigningUp, world: World): Promise<Attack> {
  const other = await world.signingUp()
  const { cognito } = world
  const send = () =>
    cognito.raw('ConfirmSignUp', {
      ClientId: cognito.clientId,
      Username: other.email,
      ConfirmationCode: own.code,
    })
  return { send, changes: ['pending_sign_up'] }
}

function inAnotherBrowser(own: SigningUp, world: World): Attack {
  const address = /action="([^"]*confirmUser[^"]*)"/.exec(own.page.text)?.[1] ?? ''
  return { send: () => world.browser().get(address.replaceAll('&#38;', '&')) }
}

function atTheOtherPool(own: SigningUp, { admin }: World): Attack {
  const address = /action="([^"]*confirmUser[^"]*)"/.exec(own.page.text)?.[1] ?? ''
  const flow = new URL(address.replaceAll('&#38;', '&'), 'http://x').searchParams.get('flow') ?? ''
  return { send: () => own.browser.get(`${admin.page('confirmUser')}&flow=${flow}`) }
}

async function adminSignUp(world: World): Promise<Attack> {
  const browser = world.browser()
  const page = await browser.get(world.admin.page('login'))
  const action = world.admin.page('signup')
  const token = /name="_csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? ''
  const fields = { _csrf: token, username: world.email(), password: PASSWORD }
  return { send: () => browser.post(action, new URLSearchParams(fields).toString()) }
}

function wrongReset(own: Recovering): Attack {
  return { send: () => renew(own, own.wrong), changes: ['user_code'] }
}

async function sixthReset(own: Recovering, code: string): Promise<Attack> {
  for (let count = 0; count < TRIES; count += 1) await renew(own, own.wrong)
  return { send: () => renew(own, code) }
}

async function oldReset(own: Recovering, world: World): Promise<Attack> {
  await world.expire('user_code', 'email', own.email)
  return { send: () => renew(own, own.code) }
}

async function usedReset(world: World): Promise<Attack> {
  const own = await world.recovering()
  await renew(own, own.code)
  return { send: () => renew(own, own.code) }
}

function resetElsewhere(own: Recovering, world: World): Attack {
  const address = /action="([^"]*confirmForgotPassword[^"]*)"/.exec(own.page.text)?.[1] ?? ''
  return { send: () => world.browser().get(address.replaceAll('&#38;', '&')) }
}
