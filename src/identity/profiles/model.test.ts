import { describe, expect, test } from 'vitest'

import { type UserProfile, activeEmailOf, changedProfile, replacedAddresses } from './model.ts'

const ANN = 'ann@one.test'
const OUT = 'ann@out.test'
const NEW = 'new@out.test'
const profile = (over: Partial<UserProfile> = {}): UserProfile => ({
  primaryEmail: ANN,
  externalEmail: OUT,
  activeAddress: 'external',
  settings: { theme: 'dark' },
  ...over,
})

describe('changing a profile', () => {
  test('to nothing changes nothing', () => {
    expect(changedProfile(profile(), {})).toEqual(profile())
  })

  test('replaces the settings as a whole', () => {
    const { settings } = changedProfile(profile(), { settings: { zoom: 2 } })
    expect(settings).toEqual({ zoom: 2 })
  })

  test.each([
    ['follows the external address', {}, { externalEmail: NEW }, NEW],
    ['falls back when the external address goes', {}, { externalEmail: null }, ANN],
    ['follows the primary address', { activeAddress: 'primary' }, { primaryEmail: NEW }, NEW],
    ['stays when the other one changes', {}, { primaryEmail: NEW }, OUT],
    ['is chosen', {}, { activeEmail: ANN }, ANN],
    ['is chosen in any spelling', {}, { activeEmail: 'ANN@One.test' }, ANN],
    ['is chosen among new addresses', {}, { externalEmail: NEW, activeEmail: NEW }, NEW],
    [
      'stays primary with a new external one',
      { activeAddress: 'primary' },
      { externalEmail: NEW },
      ANN,
    ],
  ] as const)('the active address %s', (_what, before, change, active) => {
    expect(activeEmailOf(changedProfile(profile(before), change))).toBe(active)
  })

  test.each([
    ['neither of the two', { activeEmail: NEW }],
    ['one that goes', { activeEmail: OUT, externalEmail: null }],
    ['one that is replaced', { activeEmail: ANN, primaryEmail: NEW }],
  ])('refuses as active address %s', (_what, change) => {
    expect(() => changedProfile(profile(), change)).toThrow(/activeEmail/)
  })

  test.each([
    ['a new primary one', { primaryEmail: NEW }, [ANN]],
    ['a new external one', { externalEmail: NEW }, [OUT]],
    ['no external one', { externalEmail: null }, [OUT]],
    ['both new', { primaryEmail: NEW, externalEmail: 'x@y.test' }, [ANN, OUT]],
    ['the two swapped', { primaryEmail: OUT, externalEmail: ANN }, []],
    ['other settings', { settings: {} }, []],
  ])('with %s tells which addresses were replaced', (_what, change, replaced) => {
    expect(replacedAddresses(profile(), changedProfile(profile(), change))).toEqual(replaced)
  })
})
