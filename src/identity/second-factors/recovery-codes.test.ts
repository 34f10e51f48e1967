import { expect, test } from 'vitest'

import { newRecoveryCodes, withoutCode } from './recovery-codes.ts'

test('Recovery codes are ten different ones, easy to read', () => {
  const codes = newRecoveryCodes()
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) expect(code).toMatch(/^[2-9a-km-np-z]{5}-[2-9a-km-np-z]{5}$/)
})

test.each([
  ['as it is shown', 'bbbbb-22222', ['aaaaa-33333']],
  ['in another case, with blanks', ' BBBBB 22222 ', ['aaaaa-33333']],
  ['of an unknown account', 'ccccc-22222', undefined],
  ['that is empty', '', undefined],
  ['that is half of one', 'bbbbb', undefined],
])('A recovery code %s leaves the others', (_how, typed, left) => {
  expect(withoutCode(['aaaaa-33333', 'bbbbb-22222'], typed)).toEqual(left)
})
