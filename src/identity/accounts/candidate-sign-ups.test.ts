import { describe, expect, test } from 'vitest'

import { candidateSignUps, mostLikelySignUp, newestFromNetwork } from './candidate-sign-ups.ts'
import type { PendingSignUp } from './sign-up-queries.ts'

const HERE = '192.0.2.1'
const THERE = '198.51.100.7'
const waiting = (registrationId: string, network: string, more: Partial<PendingSignUp> = {}) => ({
  registrationId,
  sub: registrationId,
  email: 'ann@x.org',
  hash: '',
  sealedSrp: null,
  codeHash: Buffer.alloc(32),
  tries: 0,
  network,
  name: null,
  ...more,
})
const names = (signUps: readonly PendingSignUp[]) => signUps.map((each) => each.registrationId)

describe('the sign-ups that a code may confirm', () => {
  test.each([
    ['is the one that is named', [waiting('a', HERE), waiting('b', THERE)], 'b', ['b']],
    ['is none when another is named', [waiting('a', HERE)], 'x', []],
    ['is the only one, wherever it came from', [waiting('a', THERE)], undefined, ['a']],
    [
      'are those from here when several wait',
      [waiting('a', THERE), waiting('b', HERE)],
      undefined,
      ['b'],
    ],
    [
      'are none when several wait, all from elsewhere',
      [waiting('a', THERE), waiting('b', THERE)],
      undefined,
      [],
    ],
    ['is none whose code is not mailed yet', [waiting('a', HERE, { codeHash: null })], 'a', []],
    ['is one with a try left', [waiting('a', HERE, { tries: 4 })], 'a', ['a']],
    ['is none without a try left', [waiting('a', HERE, { tries: 5 })], 'a', []],
  ])('%s', (_what, signUps, registrationId, expected) => {
    expect(names(candidateSignUps(signUps, { registrationId, network: HERE }))).toEqual(expected)
  })
})

describe('the sign-up that is mailed a new code', () => {
  test.each([
    ['is the newest from here', [waiting('a', THERE), waiting('b', HERE), waiting('c', HERE)], 'b'],
    ['is the newest when none is from here', [waiting('a', THERE), waiting('b', THERE)], 'a'],
    ['is none when none waits', [], undefined],
  ])('%s', (_what, newestFirst, expected) => {
    expect(mostLikelySignUp(newestFirst, HERE)?.registrationId).toBe(expected)
  })
})

describe('the sign-up that a password is compared with', () => {
  test.each([
    ['is the newest from here', [waiting('a', THERE), waiting('b', HERE), waiting('c', HERE)], 'b'],
    ['is none from elsewhere', [waiting('a', THERE)], undefined],
  ])('%s', (_what, newestFirst, expected) => {
    expect(newestFromNetwork(newestFirst, HERE)?.registrationId).toBe(expected)
  })
})
