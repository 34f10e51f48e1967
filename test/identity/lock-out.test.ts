import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { KnownDevice } from '#identity/pool-request.ts'
import { AccountsDesk, BETTER, GOOD, codeIn, from } from '#test/accounts-desk.ts'

let desk: AccountsDesk
beforeAll(async () => {
  desk = await AccountsDesk.open()
})
afterAll(() => desk[Symbol.asyncDispose]())

const WRONG = 'InvalidCredentials'
const BLOCKED = 'TooManyRequests'
const BAD_CODE = 'InvalidVerificationCode'
/** Where the account was made. */
const HOME = from()
const AWAY = from('198.51.100.77')

const strangerAt = (number: number) => from(`203.0.${number >> 8}.${number & 255}`)

/** A browser with a cookie for its forms; with one of an account if it has signed in. */
const browser = (id: string, email?: string): KnownDevice => ({
  id,
  knownAs: (asked) => (asked === email ? `known ${id}` : undefined),
})

const asking = (origin = AWAY, by?: KnownDevice) => ({
  site: desk.site,
  pool: desk.pool,
  origin,
  ...(by && { browser: by }),
})

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { code: string }) => error.code,
  )

const signIn = (email: string, password: string, origin = AWAY, by?: KnownDevice) =>
  outcome(desk.accounts.passwordSignIns.authenticate(asking(origin, by), { email, password }))

const forgot = (email: string, origin = AWAY, by?: KnownDevice) =>
  outcome(desk.accounts.passwordResets.request(asking(origin, by), email))

const reset = (email: string, code: string, origin = AWAY, by?: KnownDevice) =>
  outcome(
    desk.accounts.passwordResets.confirm(asking(origin, by), { email, code, password: BETTER }),
  )

const resetCode = async (email: string): Promise<string> =>
  codeIn((await desk.mailTo(email, 'reset')).at(-1))

/** Wrong passwords from as many networks as it takes, until the account waits for all. */
async function besiege(email: string): Promise<void> {
  for (let number = 0; number < 40; number += 1) {
    await signIn(email, 'wrong', strangerAt(number))
  }
}

describe('strangers who guess at a password', () => {
  test('from six networks of one house shut out no other network', async () => {
    const email = 'house@x.org'
    await desk.account(email)
    const outcomes = []
    for (let network = 0; network < 6; network += 1) {
      for (let guess = 0; guess < 5; guess += 1) {
        outcomes.push(await signIn(email, 'wrong', from(`2001:db8:1:${network}00::1`)))
      }
    }
    expect(outcomes.filter((each) => each === WRONG)).toHaveLength(15)
    expect(outcomes.filter((each) => each === BLOCKED)).toHaveLength(15)
    expect(await signIn(email, GOOD)).toBe('done')
  })

  test('from anywhere shut out a new browser, and no known one', async () => {
    const email = 'siege@x.org'
    await desk.account(email)
    await besiege(email)
    expect(await signIn(email, GOOD)).toBe(BLOCKED)
    expect(await signIn(email, GOOD, AWAY, browser('new'))).toBe(BLOCKED)
    expect(await signIn(email, GOOD, AWAY, browser('other', 'other@x.org'))).toBe(BLOCKED)
    expect(await signIn(email, GOOD, AWAY, browser('own', email))).toBe('done')
    await besiege(email)
    expect(await signIn(email, GOOD, HOME)).toBe('done')
  })

  test('in a browser that was signed in have ten guesses, as every browser has some', async () => {
    const email = 'stolen@x.org'
    await desk.account(email)
    const thief = browser('stolen', email)
    const outcomes = []
    for (let guess = 0; guess < 12; guess += 1) {
      outcomes.push(await signIn(email, 'wrong', strangerAt(guess), thief))
    }
    expect(outcomes.filter((each) => each === WRONG)).toHaveLength(10)
    expect(outcomes.at(-1)).toBe(BLOCKED)
  })

  test('at invented accounts shut out no colleague behind the same address', async () => {
    const email = 'colleague@x.org'
    await desk.account(email)
    const office = from('198.51.100.1')
    for (let guess = 0; guess < 60; guess += 1) {
      await signIn(`invented-${guess}@x.org`, 'wrong', office)
    }
    expect(await signIn('invented@x.org', 'wrong', office)).toBe(BLOCKED)
    expect(await signIn(email, GOOD, office, browser('desk', email))).toBe('done')
  })

  test('at invented accounts delay no colleague in a new browser on a network that is known', async () => {
    const [email, renewed, stranger] = ['second@x.org', 'renewed@x.org', 'third@x.org']
    for (const each of [email, renewed, stranger]) await desk.account(each)
    const office = from('198.51.100.2')
    expect(await signIn(email, GOOD, office)).toBe('done')
    await forgot(renewed, office)
    expect(await reset(renewed, await resetCode(renewed), office)).toBe('done')
    for (let guess = 0; guess < 60; guess += 1) {
      await signIn(`guessed-${guess}@x.org`, 'wrong', office)
    }
    expect(await signIn('guessed@x.org', 'wrong', office)).toBe(BLOCKED)
    expect(await signIn(stranger, GOOD, office)).toBe(BLOCKED)
    expect(await signIn(email, GOOD, office)).toBe('done')
    expect(await signIn(renewed, BETTER, office)).toBe('done')
  })

  test('at the account itself are counted on a known network as elsewhere', async () => {
    const email = 'counted@x.org'
    await desk.account(email)
    const office = from('198.51.100.3')
    expect(await signIn(email, GOOD, office)).toBe('done')
    const outcomes = []
    for (let guess = 0; guess < 7; guess += 1) outcomes.push(await signIn(email, 'wrong', office))
    expect(outcomes.slice(4)).toEqual([WRONG, BLOCKED, BLOCKED])
  })
})

describe('strangers who ask for a new password', () => {
  test('leave mail for those who have signed in before', async () => {
    const email = 'flood@x.org'
    await desk.account(email)
    const outcomes = []
    for (let number = 0; number < 24; number += 1) {
      outcomes.push(await forgot(email, strangerAt(1000 + number)))
    }
    // With the one for the code of the sign-up these are the twenty of an hour.
    expect(outcomes.filter((each) => each === 'done')).toHaveLength(19)
    expect(await forgot(email)).toBe(BLOCKED)
    const own = browser('flooded', email)
    // Two are mailed at a time: the newest is to be this one's.
    await desk.settled()
    expect(await forgot(email, AWAY, own)).toBe('done')
    expect(await reset(email, await resetCode(email), AWAY, own)).toBe('done')
    expect(await forgot(email, HOME)).toBe('done')
    const [before] = [(await desk.mailTo(email, 'reset')).length]
    for (let count = 0; count < 8; count += 1) await forgot(email, AWAY, own)
    expect((await desk.mailTo(email, 'reset')).length - before).toBe(4)
  })

  test('end no code that another person requested, and use up none of its tries', async () => {
    const email = 'code@x.org'
    await desk.account(email)
    const [own, other] = [browser('own'), browser('other')]
    await forgot(email, AWAY, own)
    const code = await resetCode(email)
    await forgot(email, strangerAt(1), other)
    const others = await resetCode(email)
    const program = strangerAt(2)
    for (let guess = 0; guess < 6; guess += 1) {
      expect(await reset(email, code, strangerAt(1), other)).toBe(BAD_CODE)
      await reset(email, code, program)
    }
    expect(await reset(email, others, AWAY, own)).toBe(BAD_CODE)
    expect(await reset(email, code, AWAY, own)).toBe('done')
    expect(await signIn(email, BETTER)).toBe('done')
  })

  test('with programs burn no try of the network that asked', async () => {
    const email = 'program@x.org'
    await desk.account(email)
    await forgot(email, AWAY)
    const code = await resetCode(email)
    for (let guess = 0; guess < 7; guess += 1) {
      expect(await reset(email, '000000', strangerAt(3))).toBe(BAD_CODE)
    }
    expect(await reset(email, code, strangerAt(4))).toBe(BAD_CODE)
    expect(await reset(email, code, AWAY)).toBe('done')
  })

  test('do not keep a program from using its code in another network than it asked in', async () => {
    const email = 'telephone@x.org'
    await desk.account(email)
    await forgot(email, from('2001:db8:7::1'))
    const code = await resetCode(email)
    expect(await reset(email, code, from('192.0.2.99'))).toBe('done')
    expect(await reset(email, code, from('192.0.2.99'))).toBe(BAD_CODE)
  })

  test('have five tries at a code of their own, and no more by another request', async () => {
    const email = 'tries@x.org'
    await desk.account(email)
    const own = browser('five')
    await forgot(email, AWAY, own)
    const code = await resetCode(email)
    for (let guess = 0; guess < 5; guess += 1) {
      expect(await reset(email, '000000', AWAY, own)).toBe(BAD_CODE)
    }
    expect(await reset(email, code, AWAY, own)).toBe(BAD_CODE)
    expect(await reset(email, code, AWAY, browser('six'))).toBe(BAD_CODE)
    expect(await reset(email, code, AWAY)).toBe(BAD_CODE)
  })
})
