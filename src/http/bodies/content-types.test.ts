import { expect, test } from 'vitest'

import { isJsonType } from './content-types.ts'

test.each([
  ['application/json', true],
  ['Application/JSON', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset="UTF-8"', true],
  ['application/json; charset=us-ascii; profile=x', true],
  ['application/problem+json', true],
  ['application/vnd.api+json; ext=x', true],
  ['application/json; charset=utf-16', false],
  ['application/json; charset=utf-8859', false],
  ['application/json; charset=', false],
  ['application/jsonp', false],
  ['application/json-seq', false],
  ['application/json, text/plain', false],
  ['text/json', false],
  ['text/plain', false],
  ['application/x-www-form-urlencoded', false],
  ['', false],
  [null, false],
])('%s is JSON: %s', (contentType, json) => {
  expect(isJsonType(contentType)).toBe(json)
})
