import { expect, test } from 'vitest'

import { parseDefinitionBody, parseDefinitionJson } from './definition-json.ts'

const DEFINITION =
  '{"operations":[{"operation":"a","fixed":{"item":{"n":0.12345678901234567890123456789}}},{"operation":"b","cache":1e20},7],' +
  '"jobs":[{"jobId":"j","payload":{"n":1e20}}]}'
const PARSED = {
  operations: [
    { operation: 'a', fixed: { item: { n: { $number: '0.12345678901234567890123456789' } } } },
    { operation: 'b', cache: 1e20 },
    7,
  ],
  jobs: [{ jobId: 'j', payload: { n: 1e20 } }],
}

test('a definition keeps the digits of what its presets fix, and of nothing else', () => {
  expect(parseDefinitionJson(DEFINITION)).toEqual(PARSED)
  expect(parseDefinitionBody(`{"mode":"apply","definition":${DEFINITION}}`)).toEqual({
    mode: 'apply',
    definition: PARSED,
  })
})

test.each([
  '[1e20]',
  '1e20',
  '{"operations":1e20}',
  '{"definition":1e20}',
  '{"operations":[1e20]}',
])('%s is what it is', (text) => {
  expect(parseDefinitionJson(text)).toEqual(JSON.parse(text))
  expect(parseDefinitionBody(text)).toEqual(JSON.parse(text))
})
