import { describe, expect, test } from 'vitest'

import type { Bucket } from './bucket.ts'
import { parseByteRange, withinSize } from './buckets.ts'
import {
  bodyBytes,
  checkContentType,
  checkBucketKey,
  encodedBody,
  isTextual,
  normalizedMetadata,
} from './rules.ts'
import { objectRefOf, storeKeyOf } from './store-key.ts'

const bucket: Bucket = { siteId: 'site_x', bucketId: 'res_y', config: {} }

describe('a key', () => {
  test('has as many bytes as S3 gives it, and no more than its store leaves', () => {
    const prefix = Buffer.byteLength('sites/site_x/buckets/res_y/')
    expect(() => checkBucketKey(bucket, 'k'.repeat(1024), 1152)).not.toThrow()
    expect(() => checkBucketKey(bucket, 'k'.repeat(1025), 1152)).toThrow('1 to 1024 bytes')
    expect(() => checkBucketKey(bucket, 'k'.repeat(1024 - prefix), 1024)).not.toThrow()
    expect(() => checkBucketKey(bucket, 'k'.repeat(1025 - prefix), 1024)).toThrow(
      `1 to ${1024 - prefix} bytes of UTF-8`,
    )
  })

  test.each(['a', '..', '/a', 'a//b', 'a/', '../../site_z/buckets/b/c', 'a\nb'])(
    'like %j is found back from where it is stored',
    (key) => {
      const ref = { siteId: 'site_x', bucketId: 'res_y', key }
      expect(storeKeyOf(ref)).toBe(`sites/site_x/buckets/res_y/${key}`)
      expect(objectRefOf(storeKeyOf(ref))).toEqual(ref)
    },
  )

  test.each([
    'sites/site_x/mail/a',
    'sites/site_x/buckets/res_y',
    'sites/site_x/buckets//a',
    'sites//buckets/res_y/a',
    'other/site_x/buckets/res_y/a',
  ])('of %j is of no bucket', (storeKey) => {
    expect(objectRefOf(storeKey)).toBeUndefined()
  })
})

describe('a content type', () => {
  test.each(['text/plain', 'image/svg+xml', 'text/html; charset=utf-8', 'a/b;x="y; z";q=1'])(
    'may be %j',
    (contentType) => expect(() => checkContentType(contentType)).not.toThrow(),
  )

  test.each(['', 'text', 'text/', '/html', 'text/html, text/plain', 'a/b;', ' a/b', 'a/b ', 'ä/b'])(
    'may not be %j',
    (contentType) => expect(() => checkContentType(contentType)).toThrow('contentType'),
  )

  // An expression that tries all ways to read these would never end.
  test.each([';a=b', ' ;', ';a="\\"', ';a="b'])('may not be many of %j', (part) => {
    expect(() => checkContentType(`${`a/b${part.repeat(60)}`.slice(0, 250)}(`)).toThrow(
      'contentType',
    )
  })

  test.each([
    ['text/plain', true],
    ['TEXT/HTML; charset=UTF-8', true],
    ['application/problem+json', true],
    ['application/json;charset="utf-8"', true],
    ['text/plain; charset=iso-8859-1', false],
    ['text/plain; charset=utf-16', false],
    ['application/octet-stream', false],
    ['image/png', false],
    ['application/jsonp', false],
  ])('%j is textual: %s', (contentType, textual) => {
    expect(isTextual(contentType)).toBe(textual)
  })
})

describe('a body', () => {
  test.each(['', 'a', '\uFEFFbom', 'nul\0', '😀'])('of %j survives', (text) => {
    const bytes = bodyBytes(text, 'utf8')
    expect(encodedBody(bytes, 'text/plain', undefined)).toEqual({ body: text, encoding: 'utf8' })
  })

  test('that is no UTF-8 is base64, whatever its type says', () => {
    const bytes = Buffer.from([0xc3, 0x28])
    expect(encodedBody(bytes, 'text/plain', undefined)).toEqual({
      body: 'wyg=',
      encoding: 'base64',
    })
    expect(() => encodedBody(bytes, 'text/plain', 'utf8')).toThrow('encoding')
  })

  test('is the part of the memory that it is in', () => {
    const bytes = new Uint8Array([0, 0xff, 0xfe, 0]).subarray(1, 3)
    expect(encodedBody(bytes, 'image/png', undefined)).toEqual({ body: '//4=', encoding: 'base64' })
  })

  test.each(['A', 'AA', 'AA=', 'AA==\n', ' AA==', 'AB==', 'A-_A', 'AA==AAAA'])(
    'of base64 is never %j',
    (body) => expect(() => bodyBytes(body, 'base64')).toThrow('base64'),
  )
})

describe('metadata', () => {
  test('has names in lower case, also odd ones', () => {
    const sent = JSON.parse('{"Colour":"blue","__proto__":"x"}') as Record<string, string>
    expect(Object.entries(normalizedMetadata(sent))).toEqual([
      ['colour', 'blue'],
      ['__proto__', 'x'],
    ])
  })

  test.each([{ 'a b': 'x' }, { 'a\r\n': 'x' }, { '': 'x' }, { ä: 'x' }, { a: '1', A: '2' }])(
    'is not %j',
    (sent) => expect(() => normalizedMetadata(sent as Record<string, string>)).toThrow('metadata'),
  )
})

describe('a range', () => {
  test.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=-1', { start: 9, end: 9 }],
    ['bytes=4-', { start: 4, end: 9 }],
    [
      { start: 3, end: 99 },
      { start: 3, end: 9 },
    ],
  ])('%j of ten bytes is %j', (asked, range) => {
    expect(withinSize(parseByteRange(asked), 10)).toEqual(range)
  })

  test.each(['bytes=10-', 'bytes=-0', { start: 10 }])('%j of ten bytes is nothing', (asked) => {
    expect(() => withinSize(parseByteRange(asked), 10)).toThrow('behind the end')
  })

  test.each(['bytes=-', 'bytes=1', 'items=1-2', 'bytes=3-1', '', 'bytes=0-1,2-3'])(
    '%j is none',
    (asked) => expect(() => parseByteRange(asked)).toThrow('range'),
  )
})
