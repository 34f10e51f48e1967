import { describe, expect, test } from 'vitest'

import { acceptsHtml, asksForPage } from './accepts-html.ts'

const request = (headers: Readonly<Record<string, string>>) =>
  new Request('http://one.test/', { headers })
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

/** Chromium's, Firefox's and Safari's. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

describe('a caller asks for a page', () => {
  test.each([
    { accept: BROWSER },
    { accept: 'text/html' },
    { accept: 'text/html, application/json' },
    { accept: 'text/html, */*' },
    { accept: 'text/html;q=0.9, application/json;q=0.8' },
    { accept: 'text/html;q=0.5, application/json;q=0, */*' },
    { accept: 'text/html;q=0.5, application/*;q=0.4, */*' },
    { accept: BROWSER, authorization: 'Basic dXNlcjpwYXNz' },
    { accept: BROWSER, 'content-type': 'application/x-www-form-urlencoded' },
    { accept: BROWSER, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    { accept: BROWSER, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ])('with %j', (headers) => {
    expect(asksForPage(request(headers as Record<string, string>))).toBe(true)
  })
})

describe('a caller asks for no page', () => {
  test.each([
    {},
    { accept: '*/*' },
    { accept: 'text/*' },
    { accept: 'application/json' },
    { accept: 'application/json, text/html' },
    { accept: 'application/json, text/html;q=0.9' },
    { accept: 'text/html;q=0.1, */*;q=0.8' },
    { accept: 'text/html;q=0' },
    { accept: `${'image/png,'.repeat(200)}text/html` },
    { accept: BROWSER, authorization: 'Bearer x' },
    { accept: BROWSER, 'content-type': 'application/json; charset=utf-8' },
    { accept: BROWSER, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
  ])('with %j', (headers) => {
    expect(asksForPage(request(headers as Record<string, string>))).toBe(false)
  })
})
