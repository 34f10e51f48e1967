import { expect, test } from 'vitest'

import { visitorOf } from '#identity/visitor.ts'

import { RecognizedHeaders } from './recognized-headers.ts'
import { TrustedToken } from './verified-token-cache.ts'

const token = (sub: string) =>
  new TrustedToken(
    {
      visitor: visitorOf({ sub, username: sub, groups: [] }),
      poolVersion: '1',
      expiresAtMs: 3_600_000,
      siteState: { current: true },
      userState: { current: true },
    },
    0,
  )

test('a header is known by its whole text, and by nothing else', () => {
  const headers = new RecognizedHeaders()
  const ann = token('ann')
  headers.set('Bearer a.b.c', ann, 0)
  expect(headers.get('Bearer a.b.c', 1)).toBe(ann)
  for (const other of ['bearer a.b.c', 'Bearer a.b.d', 'Bearer a.b.', 'Bearer a.b.c ', '']) {
    expect(headers.get(other, 1)).toBeUndefined()
  }
})

test('a header is forgotten two minutes after it was learned at the latest', () => {
  const headers = new RecognizedHeaders()
  headers.get('', 0)
  headers.set('Bearer a.b.c', token('ann'), 59_999)
  expect(headers.get('Bearer a.b.c', 60_000)).toBeDefined()
  expect(headers.get('Bearer a.b.c', 119_999)).toBeDefined()
  expect(headers.get('Bearer a.b.c', 120_000)).toBeUndefined()
})

test('nothing is left after a long silence', () => {
  const headers = new RecognizedHeaders()
  headers.set('Bearer a.b.c', token('ann'), 1000)
  expect(headers.get('Bearer a.b.c', 10_000_000)).toBeUndefined()
})

test('what is known takes no more than so much memory, and the last ones stay', () => {
  const headers = new RecognizedHeaders()
  const long = (at: number) => `Bearer ${String(at).padStart(8000, 'x')}`
  for (let at = 0; at < 3000; at += 1) headers.set(long(at), token('ann'), 1)
  expect(headers.get(long(0), 2)).toBeUndefined()
  expect(headers.get(long(2999), 2)).toBeDefined()
})
