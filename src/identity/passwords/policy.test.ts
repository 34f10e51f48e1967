import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { storedPoolSettings } from '#identity/pools/settings.ts'

import { passwordFaults } from './policy.ts'

const faultsOf = (...asked: Parameters<typeof passwordFaults>): string[] =>
  passwordFaults(...asked).map(String)

const { passwordPolicy: strict } = storedPoolSettings('data', {})
const lax = {
  minimumLength: 8,
  requireUppercase: false,
  requireLowercase: false,
  requireNumbers: false,
  requireSymbols: false,
}
const EMAIL = 'ann.smith@x.org'
const OWNER = { email: EMAIL, domain: 'roses.test' }

describe('a new password', () => {
  test.each([
    ['with everything', 'Tr4vel-light', []],
    ['of eight characters', 'Tr4ve-li', []],
    ['of seven', 'Tr4ve-l', ['must have at least 8 characters']],
    ['of 28 letters', 'the quick fox jumps the gate', []],
    ['of 28 letters without a blank', 'thequickfoxjumpsoverthegates', []],
    [
      'of 28 letters that are few',
      'abcabcabcabcabcabcabcabcabca',
      ['must have an uppercase letter', 'must have a digit', 'must have a symbol'],
    ],
    ['of 256 characters', `Tr4-${'x'.repeat(252)}`, []],
    ['of 257', `Tr4-${'x'.repeat(253)}`, ['must have at most 256 characters']],
    ['of 256 that take two units each', `Tr4-${'🦊'.repeat(252)}`, []],
    ['without an uppercase letter', 'tr4vel-light', ['must have an uppercase letter']],
    ['without a lowercase letter', 'TR4VEL-LIGHT', ['must have a lowercase letter']],
    ['without a digit', 'Travel-light', ['must have a digit']],
    ['without a symbol', 'Tr4vellight', ['must have a symbol']],
    ['with a space for a symbol', 'Tr4vel light', []],
    ['in another script', 'Путешествие-9', []],
    [
      'that is empty',
      '',
      [
        'must have at least 8 characters',
        'must have an uppercase letter',
        'must have a lowercase letter',
        'must have a digit',
        'must have a symbol',
      ],
    ],
    ['with half a character', 'Tr4vel-\ud800light', ['is not valid text']],
    ['that holds the address', 'X9-ann.smith@x.org', ['must not be the email address']],
    ['in whatever case', 'X9-Ann.Smith@X.org', ['must not be the email address']],
  ])('%s', (_what, password, faults) => {
    expect(faultsOf(strict, password, OWNER)).toEqual(faults)
  })

  test('of a lax pool needs its length alone', () => {
    expect(faultsOf(lax, 'travel light', OWNER)).toEqual([])
    expect(faultsOf(lax, 'travel', OWNER)).toEqual(['must have at least 8 characters'])
    expect(faultsOf({ ...lax, minimumLength: 20 }, 'travel light', OWNER)).toHaveLength(1)
  })

  test.each([
    ['name', 'annasmith', 'annasmith@x.org'],
    ['name with decoration', 'Annasmith2026!', 'annasmith@x.org'],
    ['name with a sign in it', 'Ann.Smith1!', 'ann.smith@x.org'],
    ['name without its sign', 'AnnSmith-99', 'ann.smith@x.org'],
    ['name with digits', 'Ann1985!', 'ann1985@x.org'],
    ['name with digits, and others', 'Smith-2026', 'smith1985@x.org'],
    ['name before its tag', 'Annsmith1!', 'annsmith+shop@x.org'],
  ])('is not the %s', (_what, password, email) => {
    const owner = { ...OWNER, email }
    expect(faultsOf(lax, password, owner)).toEqual(['must not be the email address'])
  })

  test.each([
    ['Roses-2026', 'roses.test', 1],
    ['Roses.test1!', 'roses.test', 1],
    ['R0ses!r0ses', 'other.test', 0],
    ['Roses-are-red-1', 'roses.test', 0],
    ['Ab-2026-ab', 'ab.test', 0],
  ])('"%s" names the site %s: %i', (password, domain, count) => {
    const faults = faultsOf(lax, password, { ...OWNER, domain })
    expect(faults).toEqual(Array.from({ length: count }, () => 'must not be the name of the site'))
  })

  test('gets each fault once, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.string(), (password, email) => {
        const faults = faultsOf(strict, password, { ...OWNER, email })
        expect(new Set(faults).size).toBe(faults.length)
      }),
    )
  })
})
