import { describe, expect, test } from 'vitest'

import { checkUpdates, refFault, refsAfter } from './push-rules.ts'

const OLD = 'a'.repeat(40)
const NEW = 'b'.repeat(40)
const created = (name: string) => ({ name, oldOid: undefined, newOid: NEW })

describe('a ref', () => {
  test.each([
    'refs/heads/main',
    'refs/heads/feature/ö-1',
    'refs/tags/v1.0',
    'refs/heads/a@b',
    'refs/heads/-x',
  ])('may be named %s', (name) => expect(refFault(name)).toBeUndefined())

  test.each([
    'HEAD',
    'refs/heads/',
    'refs/notes/x',
    'refs/heads/a..b',
    'refs/heads/.a',
    'refs/heads/a/.b',
    'refs/heads/a.lock',
    'refs/heads/a.lock/b',
    'refs/heads/a//b',
    'refs/heads/a/',
    'refs/heads/a.',
    'refs/heads/a b',
    'refs/heads/a~1',
    'refs/heads/a^',
    'refs/heads/a:b',
    'refs/heads/a?',
    'refs/heads/a*',
    'refs/heads/[a',
    'refs/heads/a\\b',
    'refs/heads/a@{1}',
    'refs/heads/a\nrefs/heads/main',
    'refs/heads/../../config',
    'refs/heads/\ud800',
    `refs/heads/${'x'.repeat(250)}`,
  ])('may not be named %j', (name) => expect(refFault(name)).toEqual(expect.any(String)))
})

describe('a push', () => {
  test('may not delete the bound branch, nor change more refs than one can look at', () => {
    const gone = { name: 'refs/heads/main', oldOid: OLD, newOid: undefined }
    expect(() => checkUpdates([gone], 'main')).toThrow('cannot be deleted')
    expect(() => checkUpdates([gone], 'live')).not.toThrow()
    const many = Array.from({ length: 201 }, (_, index) => created(`refs/heads/b${index}`))
    expect(() => checkUpdates(many, 'main')).toThrow('at most 200')
    expect(() => checkUpdates([], 'main')).toThrow('nothing')
  })

  test('applies to the refs that it saw, and to no others', () => {
    const current = [{ name: 'refs/heads/main', oid: OLD }]
    const update = { name: 'refs/heads/main', oldOid: OLD, newOid: NEW }
    expect(refsAfter(current, [update])).toEqual([{ name: 'refs/heads/main', oid: NEW }])
    expect(() => refsAfter([{ name: 'refs/heads/main', oid: NEW }], [update])).toThrow(
      'Another push',
    )
    expect(() => refsAfter([], [update])).toThrow('Another push')
    expect(() => refsAfter(current, [created('refs/heads/main')])).toThrow('Another push')
  })

  test('makes no branch inside the name of another, unless that goes', () => {
    const current = [{ name: 'refs/heads/a', oid: OLD }]
    expect(() => refsAfter(current, [created('refs/heads/a/b')])).toThrow('cannot both be there')
    expect(() => refsAfter(current, [created('refs/tags/a/b')])).not.toThrow()
    const gone = { name: 'refs/heads/a', oldOid: OLD, newOid: undefined }
    expect(() => refsAfter(current, [gone, created('refs/heads/a/b')])).not.toThrow()
  })
})
