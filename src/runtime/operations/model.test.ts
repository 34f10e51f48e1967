import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import { type PutOperation, parseOperation, sameBinding } from './model.ts'

const base: PutOperation = { operation: 'hello', lambdaResourceId: 'res_1' }

function faultOf(input: PutOperation): string {
  try {
    parseOperation(input)
  } catch (error) {
    if (error instanceof AppError) return `${error.code} ${error.message}`
    throw error
  }
  return 'none'
}

describe('an operation', () => {
  test('asks for a token and keeps nothing unless it says otherwise', () => {
    expect(parseOperation(base)).toEqual({
      operation: 'hello',
      lambdaResourceId: 'res_1',
      preset: null,
      auth: { mode: 'authenticated' },
      cacheTtlSeconds: 0,
      http: false,
      input: null,
      output: null,
    })
  })

  test('may be a preset for members of groups', () => {
    const parsed = parseOperation({
      operation: 'echo',
      preset: { preset: 'echo' },
      auth: { mode: 'groups', groups: ['staff'] },
      cache: { ttlSeconds: 60 },
    })
    expect(parsed).toMatchObject({
      preset: { preset: 'echo', resourceId: null },
      auth: { mode: 'groups', groups: ['staff'] },
      cacheTtlSeconds: 60,
    })
  })

  test('may ask for scopes, beside groups too', () => {
    for (const auth of [
      { mode: 'authenticated' as const, scopes: ['a'] },
      { mode: 'groups' as const, groups: ['staff'], scopes: ['a', 'b'] },
    ]) {
      expect(parseOperation({ ...base, auth }).auth).toEqual(auth)
    }
  })

  test.each([
    ['the name "auth"', { ...base, operation: 'auth' }, 'reserved'],
    ['the name "public"', { ...base, operation: 'public' }, 'reserved'],
    ['no target', { operation: 'hello' }, 'either "lambdaResourceId" or "preset"'],
    ['two targets', { ...base, preset: { preset: 'echo' } }, 'either'],
    ['an unknown preset', { operation: 'a', preset: { preset: 'x' } }, '"x" is not a preset'],
    [
      'scopes without a token',
      { ...base, auth: { mode: 'public' as const, scopes: ['a'] } },
      'auth.scopes',
    ],
    ['groups without names', { ...base, auth: { mode: 'groups' as const } }, 'auth.groups'],
    [
      'names without groups',
      { ...base, auth: { mode: 'public' as const, groups: ['a'] } },
      'auth.groups',
    ],
    [
      'HTTP of a preset',
      { operation: 'a', preset: { preset: 'echo' }, http: true },
      'http: is for functions',
    ],
    [
      'a cache of what answers HTTP',
      { ...base, http: true, cache: { ttlSeconds: 1 } },
      'Cache-Control',
    ],
  ])('is refused with %s', (_what, input, words) => {
    expect(faultOf(input)).toMatch(/^ValidationError /)
    expect(faultOf(input)).toContain(words)
  })

  test('is the same binding whatever its history', () => {
    const history = { version: '1', createdAt: new Date(), updatedAt: new Date() }
    expect(sameBinding({ ...parseOperation(base), ...history }, parseOperation(base))).toBe(true)
    const cached = parseOperation({ ...base, cache: { ttlSeconds: 1 } })
    expect(sameBinding(parseOperation(base), cached)).toBe(false)
  })
})
