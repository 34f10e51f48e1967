import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import { MAX_TOKEN_LENGTH, bearerToken } from './bearer.ts'

const TOKEN = 'aaa.bbb.ccc'
const LONGEST = `a.b.${'c'.repeat(MAX_TOKEN_LENGTH - 4)}`

describe('a bearer header', () => {
  test.each(['Bearer', 'bearer', 'BEARER'])('gives its token to scheme %s', (scheme) => {
    expect(bearerToken(`${scheme} ${TOKEN}`)).toBe(TOKEN)
  })

  test('may carry the longest token', () => {
    expect(bearerToken(`Bearer ${LONGEST}`)).toBe(LONGEST)
  })

  test.each([
    ['nothing', undefined],
    ['an empty one', ''],
    ['no token', 'Bearer '],
    ['no space', `Bearer${TOKEN}`],
    ['another scheme', `Basic ${TOKEN}`],
    ['a bare token', TOKEN],
    ['two spaces', `Bearer  ${TOKEN}`],
    ['a tab', `Bearer\t${TOKEN}`],
    ['a trailing space', `Bearer ${TOKEN} `],
    ['a header sent twice', `Bearer ${TOKEN}, Bearer ${TOKEN}`],
    ['two parts', 'Bearer aaa.bbb'],
    ['four parts', 'Bearer a.b.c.d'],
    ['no signature', 'Bearer aaa.bbb.'],
    ['base64 instead of base64url', 'Bearer aa+.bb/.cc='],
    ['a line break', `Bearer ${TOKEN}\n`],
    ['one character too many', `Bearer ${LONGEST}c`],
  ])('is refused with %s, in the same words', (_what, header) => {
    const refused = () => bearerToken(header)
    expect(refused).toThrow(AppError)
    expect(refused).toThrow(
      'This route needs a valid token of this site as "Authorization: Bearer …"',
    )
  })
})
