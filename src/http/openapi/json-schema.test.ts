import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { describe, expect, test } from 'vitest'

import { jsonSchema } from './json-schema.ts'

describe('the JSON Schema of a declaration', () => {
  test.each([
    ['a text', Type.String({ maxLength: 3 }), { type: 'string', maxLength: 3 }],
    ['a date', Type.Date(), { type: 'string', format: 'date-time' }],
    ['anything', Type.Unknown(), {}],
    [
      'constants of one type',
      Type.Union([Type.Literal('a'), Type.Literal('b')]),
      { type: 'string', enum: ['a', 'b'] },
    ],
    [
      'a choice',
      Type.Union([Type.Literal('a'), Type.Null()]),
      { anyOf: [{ type: 'string', const: 'a' }, { type: 'null' }] },
    ],
    ['a number of a query', t.Numeric({ minimum: 1 }), { type: 'number', minimum: 1 }],
    [
      'an object',
      Type.Object({ at: Type.Optional(Type.Date()) }, { additionalProperties: false }),
      {
        type: 'object',
        properties: { at: { type: 'string', format: 'date-time' } },
        additionalProperties: false,
      },
    ],
    [
      'a record',
      Type.Record(Type.String(), Type.Array(Type.Integer())),
      {
        type: 'object',
        patternProperties: { '^(.*)$': { type: 'array', items: { type: 'integer' } } },
      },
    ],
  ])('of %s', (_name, schema, expected) => {
    expect(jsonSchema(schema)).toEqual(expected)
  })

  test('says what the service says of a value that is not valid', () => {
    expect(jsonSchema(Type.String({ fault: 'must be a name' }))).toEqual({
      type: 'string',
      description: 'Must be a name.',
    })
    const described = Type.String({ fault: 'must be a name', description: 'A name' })
    expect(jsonSchema(described)).toEqual({ type: 'string', description: 'A name' })
  })

  test('is refused for a keyword that means nothing there', () => {
    expect(() => jsonSchema(Type.String({ secret: 'yes' }))).toThrow(/keyword "secret"/)
    expect(() => jsonSchema(Type.Uint8Array({ minByteLength: 1 }))).toThrow(/minByteLength/)
  })
})
