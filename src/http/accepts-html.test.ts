import { describe, expect, test } from 'vitest'

import { acceptsHtml } from './accepts-html.ts'

const asked = (accept?: string) =>
  acceptsHtml(new Request('http://one.test/', accept === undefined ? {} : { headers: { accept } }))

describe('a caller reads pages', () => {
  test.each([
    'text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'application/json, TEXT/HTML;q=0.1',
    'text/html;level=1',
  ])('with Accept: %s', (accept) => {
    expect(asked(accept)).toBe(true)
  })
})

describe('a caller reads no pages', () => {
  test.each([
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json',
    'text/html;q=0',
    'text/html; q=0.000',
    'text/htmlx',
    'application/json;profile=text/html',
  ])('with Accept: %s', (accept) => {
    expect(asked(accept)).toBe(false)
  })
})
