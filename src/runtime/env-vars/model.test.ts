import { describe, expect, test } from 'vitest'

import { type EnvVarChange, type PlainEnvVar, planEnvVarChanges } from './model.ts'

const secret: PlainEnvVar = {
  name: 'KEY',
  value: 'hidden',
  secret: true,
  storageBackend: 'ssmSecureString',
}
const open: PlainEnvVar = { ...secret, name: 'URL', value: 'https://x', secret: false }
const known = new Map([secret, open].map((item) => [item.name, item]))

const plan = (...changes: EnvVarChange[]) => planEnvVarChanges(known, changes)

describe('a change of the environment', () => {
  test.each<[string, EnvVarChange, string, Partial<PlainEnvVar>]>([
    [
      'is readable unless it says otherwise',
      { name: 'A', value: '1' },
      'create',
      { secret: false, storageBackend: 'ssmSecureString' },
    ],
    [
      'is secret where it says so',
      { name: 'A', value: '1', secret: true },
      'create',
      { secret: true },
    ],
    [
      'is readable in the storage that is for that',
      { name: 'A', value: '1', storageBackend: 'ssmString' },
      'create',
      { secret: false, storageBackend: 'ssmString' },
    ],
    [
      'may be readable in the sealed storage',
      { name: 'A', value: '1', secret: false, storageBackend: 'ssmSecureString' },
      'create',
      { secret: false, storageBackend: 'ssmSecureString' },
    ],
    ['may be empty text', { name: 'A', value: '' }, 'create', { value: '' }],
    ['keeps that a variable is readable', { name: 'URL', value: '2' }, 'update', { secret: false }],
    ['keeps that a variable is secret', { name: 'KEY', value: '2' }, 'update', { secret: true }],
    [
      'keeps the value where only `secret` is sent',
      { name: 'URL', secret: true },
      'update',
      { value: 'https://x', secret: true },
    ],
    [
      'opens a secret whose value is sent with it',
      { name: 'KEY', value: 'known', secret: false, storageBackend: 'ssmString' },
      'update',
      { value: 'known', secret: false },
    ],
  ])('%s', (_what, change, action, written) => {
    const { actions, written: rows } = plan(change)
    expect(actions.get(change.name)).toBe(action)
    expect(rows).toEqual([expect.objectContaining(written)])
  })

  test.each<[string, EnvVarChange]>([
    ['the same value', { name: 'KEY', value: 'hidden' }],
    ['no field at all', { name: 'KEY' }],
    ['the same words about it', { name: 'URL', secret: false, storageBackend: 'ssmSecureString' }],
    ['the deletion of what is not there', { name: 'NONE', value: null }],
  ])('is none with %s', (_what, change) => {
    expect(plan(change)).toEqual({
      actions: new Map([[change.name, 'none']]),
      written: [],
      deleted: [],
    })
  })

  test('deletes with null', () => {
    expect(plan({ name: 'KEY', value: null })).toMatchObject({ written: [], deleted: ['KEY'] })
  })

  test.each<[string, EnvVarChange[], RegExp]>([
    ['a new variable without a value', [{ name: 'A', secret: true }], /A\.value: is required/],
    [
      'a secret that would be shown',
      [{ name: 'KEY', secret: false }],
      /KEY\.value: is required: a secret is never shown/,
    ],
    ['a secret in plain storage', [{ name: 'KEY', storageBackend: 'ssmString' }], /KEY\.secret/],
    [
      'a new secret in plain storage',
      [{ name: 'A', value: '1', secret: true, storageBackend: 'ssmString' }],
      /A\.secret/,
    ],
    ['NUL', [{ name: 'A', value: 'a\0b' }], /A\.value: holds a NUL/],
    ['half a surrogate pair', [{ name: 'A', value: '\ud800' }], /half a surrogate pair/],
    ['a long value', [{ name: 'A', value: 'é'.repeat(16_385) }], /is 32770 bytes.*at most 32768/],
    ['a reserved prefix', [{ name: 'CROFT_URL', value: '1' }], /reserved/],
    ['the prefix of Deno', [{ name: 'DENO_DIR', value: '1' }], /reserved/],
    ['the prototype', [{ name: '__proto__', value: '1' }], /reserved/],
    [
      'a name twice',
      [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
      /twice/,
    ],
    [
      'too many',
      Array.from({ length: 199 }, (_, at) => ({ name: `V${at}`, value: '' })),
      /at most 200 variables, this would make 201/,
    ],
    [
      'too much in all',
      Array.from({ length: 9 }, (_, at) => ({ name: `V${at}`, value: 'x'.repeat(32_000) })),
      /at most 262144 bytes in all/,
    ],
  ])('is refused with %s', (_what, changes, message) => {
    expect(() => plan(...changes)).toThrow(message)
  })

  test.each(['', '1A', 'A-B', 'A B', 'A'.repeat(129), 'Ä'])('refuses the name %j', (name) => {
    expect(() => plan({ name, value: '1' })).toThrow(/a name is a letter or "_"/)
  })

  test('repeats no name that may be a value in the wrong place', () => {
    expect(() => plan({ name: 'p@ss word', value: '1' })).toThrow(/^(?!.*p@ss)/)
  })

  test('makes room before it counts', () => {
    const full = new Map(
      Array.from({ length: 200 }, (_, at) => [`V${at}`, { ...open, name: `V${at}` }]),
    )
    const changes = [
      { name: 'V0', value: null },
      { name: 'NEW', value: '1' },
    ]
    expect(planEnvVarChanges(full, changes).written).toHaveLength(1)
  })
})
