import { describe, expect, test } from 'vitest'

import type { CatalogueColumn } from '#platform/postgres/catalogue.ts'

import { tablesSource } from './schema-source.ts'

const NO_OVERRIDES = new Map<string, string>()

const tableOf = (column: Partial<CatalogueColumn>) => ({
  schema: 'public',
  name: 'thing',
  isForced: true,
  key: ['kind'],
  columns: [
    {
      name: 'kind',
      type: 'text',
      isNullable: false,
      hasDefault: false,
      isGenerated: false,
      isIdentity: false,
      ...column,
    },
  ],
})

const typeOf = (
  column: Partial<CatalogueColumn>,
  expression?: string,
  overrides: ReadonlyMap<string, string> = NO_OVERRIDES,
) => {
  const checks = expression === undefined ? [] : [{ table: 'thing', column: 'kind', expression }]
  return /kind: (.*)/.exec(tablesSource([tableOf(column)], checks, overrides))?.[1]
}

describe('the type of a column', () => {
  test.each([
    [{ type: 'bigint' }, 'string'],
    [{ type: 'jsonb', isNullable: true }, 'unknown'],
    [{ type: 'integer[]', isNullable: true }, 'number[] | null'],
    [{ type: 'timestamp with time zone', hasDefault: true }, 'Generated<Date>'],
    [{ type: 'bytea', isNullable: true, hasDefault: true }, 'Generated<Buffer | null>'],
    [{ type: 'bigint', isIdentity: true }, 'GeneratedAlways<string>'],
  ])('of %j is %s', (column, type) => {
    expect(typeOf(column)).toBe(type)
  })

  test.each([
    [`(kind = ANY (ARRAY['a b'::text, 'c'::text]))`, `'a b' | 'c'`],
    [`(kind = 'a'::text)`, `'a'`],
    [`((kind = ANY (ARRAY['a'::text])) OR (kind IS NULL))`, 'string'],
    [`(kind = ANY (ARRAY['it''s'::text]))`, 'string'],
    [`(length(kind) = 1)`, 'string'],
    [`(other = ANY (ARRAY['a'::text]))`, 'string'],
  ])('with the check %s is %s', (check, type) => {
    expect(typeOf({}, check)).toBe(type)
  })

  test('is that of its override, and may be null even so', () => {
    expect(typeOf({ isNullable: true }, undefined, new Map([['thing.kind', `'x'`]]))).toBe(
      `'x' | null`,
    )
  })
})

describe('the source', () => {
  test('is refused for a type that no connection is known to give', () => {
    expect(() => typeOf({ type: 'interval' })).toThrow('knows no type for "interval"')
  })

  test.each([
    ['of a column that is not there', undefined, 'thing.gone'],
    ['of a column whose values a check lists', `(kind = 'a'::text)`, 'thing.kind'],
  ])('is refused with an override %s', (_what, check, place) => {
    expect(() => typeOf({}, check, new Map([[place, `'x'`]]))).toThrow(`"${place}"`)
  })
})
