import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { describe, expect, test } from 'vitest'

import { schemaFaults } from './schema-faults.ts'

const Shape = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z]+$', fault: 'must be lower-case letters' }),
    color: Type.Optional(
      Type.Union([Type.String({ pattern: '^#', fault: 'must be a color' }), Type.Null()]),
    ),
    mode: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
    list: Type.Optional(
      Type.Array(Type.Object({ at: Type.Integer({ maximum: 3 }) }), { uniqueItems: true }),
    ),
  },
  { additionalProperties: false },
)
const faults = (value: unknown, at?: string) => schemaFaults(Value.Errors(Shape, value), at)

describe('the faults of a shape', () => {
  test.each([
    ['a missing field', {}, [{ field: 'name', message: 'is required' }]],
    [
      'the schema’s own words',
      { name: 'A' },
      [{ field: 'name', message: 'must be lower-case letters' }],
    ],
    ['an unknown field', { name: 'a', x: 1 }, [{ field: 'x', message: 'is not a known field' }]],
    [
      'what may be null, too',
      { name: 'a', color: 'red' },
      [{ field: 'color', message: 'must be a color' }],
    ],
    ['a choice', { name: 'a', mode: 'c' }, [{ field: 'mode', message: 'must be one of "a", "b"' }]],
    [
      'a place in a list',
      { name: 'a', list: [{ at: 1 }, { at: 9 }] },
      [{ field: 'list[1].at', message: 'expected integer to be less or equal to 3' }],
    ],
    [
      'a list',
      { name: 'a', list: [{ at: 1 }, { at: 1 }] },
      [{ field: 'list', message: 'must not name anything twice' }],
    ],
    ['no object', 7, [{ field: 'body', message: 'expected object' }]],
    ['nothing', { name: 'a' }, []],
  ])('name %s', (_what, value, expected) => {
    expect(faults(value)).toEqual(expected)
  })

  test('are named from the field that holds the whole', () => {
    expect(faults({}, 'config')).toEqual([{ field: 'config.name', message: 'is required' }])
  })

  test('are few, however wrong a value is', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`field${at}`, at]))
    expect(faults(many)).toHaveLength(20)
  })

  test('end with a list that is too long: its items are not checked', () => {
    const Short = Type.Array(Type.String({ maxLength: 1 }), { maxItems: 2, uniqueItems: true })
    const asked: unknown[] = []
    function* errors() {
      for (const error of Value.Errors(Short, ['long', 'long', 'long'])) {
        asked.push(error.path)
        yield error
      }
    }
    expect(schemaFaults(errors(), 'list')).toEqual([
      { field: 'list', message: 'expected array length to be less or equal to 2' },
    ])
    expect(asked).toEqual([''])
  })
})
