import { Type } from '@sinclair/typebox'
import { expect, test } from 'vitest'

import { ExpiringSeal } from './expiring-seal.ts'

const KEY = new Uint8Array(32).fill(7)
const NOW_MS = Date.parse('2026-11-28T12:00:00Z')

const at = (ms: number, key = KEY) =>
  new ExpiringSeal({
    key,
    clock: { now: () => new Date(NOW_MS + ms) },
    fields: Type.Object({ word: Type.String() }),
    lifetimeMs: 60_000,
    maxLength: 200,
  })

test('What is sealed is opened for its context, for its time', () => {
  const sealed = at(0).seal('ann', { word: 'hello' })
  expect(at(59_999).open('ann', sealed)).toMatchObject({ word: 'hello' })
  expect(at(60_000).open('ann', sealed)).toBeUndefined()
})

test.each([
  ['another context', (sealed: string) => at(0).open('bob', sealed)],
  ['another key', (sealed: string) => at(0, new Uint8Array(32)).open('ann', sealed)],
  ['a changed text', (sealed: string) => at(0).open('ann', `B${sealed.slice(1)}`)],
  ['a text that is too long', (sealed: string) => at(0).open('ann', sealed + '='.repeat(200))],
  ['no text', () => at(0).open('ann', '')],
])('What is sealed is not opened with %s', (_what, open) => {
  expect(open(at(0).seal('ann', { word: 'hello' }))).toBeUndefined()
})
