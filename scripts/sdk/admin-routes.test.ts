import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'

import { ADMIN_ROUTES_FILE, adminRoutesSource } from './admin-routes.ts'
import { schemaType } from './schema-type.ts'

const KEPT = resolve(import.meta.dirname, '../..', ADMIN_ROUTES_FILE)

test('the types of the admin routes are those of their declarations: else run "npm run sdk:routes"', async () => {
  expect(await readFile(KEPT, 'utf8')).toBe(adminRoutesSource())
})

describe('the type of a schema', () => {
  test.each([
    [Type.String({ maxLength: 3 }), 'string'],
    [Type.Date(), 'string'],
    [Type.Integer(), 'number'],
    [Type.Literal('a"b'), '"a\\"b"'],
    [Type.Union([Type.Literal('x'), Type.Null()]), '"x" | null'],
    [Type.Array(Type.Union([Type.String(), Type.Null()])), 'ReadonlyArray<string | null>'],
    [Type.Unknown(), 'unknown'],
    [Type.Object({}), 'Readonly<Record<string, unknown>>'],
    [Type.Record(Type.String(), Type.Number()), 'Readonly<Record<string, number>>'],
    [
      Type.Object({ a: Type.Boolean(), 'b-c': Type.Optional(Type.Null()) }),
      '{ readonly a: boolean; readonly "b-c"?: null }',
    ],
  ])('of %j is %s', (schema, type) => {
    expect(schemaType(schema)).toBe(type)
  })

  test('is refused where it is not known', () => {
    expect(() => schemaType(Type.Uint8Array())).toThrow(/No type/)
  })
})
