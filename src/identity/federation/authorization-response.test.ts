import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseAuthorizationResponse, authorizationErrorOf } from './authorization-response.ts'

describe('what a provider answers through the browser', () => {
  test('is read whatever else is in the address', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string())), (query) => {
        const params = new URLSearchParams(query)
        for (const name of ['state', 'code', 'iss', 'error', 'error_description']) {
          params.delete(name)
        }
        params.append('state', 's')
        params.append('code', 'c')
        expect(parseAuthorizationResponse(params)).toEqual({
          state: 's',
          code: 'c',
          iss: undefined,
          error: undefined,
        })
      }),
    )
  })

  test.each(['state=a&state=a', 'state=a&code=b&code=b', 'state=a&iss=x&iss=x', 'code=b', ''])(
    'is nothing in "%s"',
    (query) => {
      expect(parseAuthorizationResponse(new URLSearchParams(query))).toBeUndefined()
    },
  )
})

describe('an error of a provider', () => {
  /** RFC 6749, section 4.1.2.1: what an `error_description` may be made of. */
  test('has no word in it that the provider could choose freely', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 500 }), (error) => {
        const { description } = authorizationErrorOf(error)
        expect(description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]{1,200}$/)
      }),
    )
  })

  test.each([
    ['access_denied', 'access_denied'],
    ['login_required', 'login_required'],
    ['interaction_required', 'login_required'],
    ['temporarily_unavailable', 'temporarily_unavailable'],
    ['invalid_scope', 'server_error'],
    ['__proto__', 'server_error'],
  ])('"%s" is "%s" for our client', (theirs, ours) => {
    expect(authorizationErrorOf(theirs).error).toBe(ours)
  })
})
