import { expect, test } from 'vitest'

import type { CatalogueColumn } from '#platform/postgres/catalogue.ts'

import type { ArchivedTable } from './archived-table.ts'
import { cataloguedTables } from './catalogued-tables.ts'

const column = (name: string, rest: Partial<CatalogueColumn> = {}): CatalogueColumn => ({
  name,
  type: 'text',
  isNullable: false,
  hasDefault: false,
  isGenerated: false,
  isIdentity: false,
  ...rest,
})

const inDatabase = (name: string, ...columns: readonly CatalogueColumn[]) => ({
  schema: 'public',
  name,
  isForced: true,
  key: ['site_id', 'id'],
  columns: [column('site_id'), column('id'), ...columns],
})

const reference = (from: string, to: string) => ({ from: `public.${from}`, to: `public.${to}` })

const catalogued = (
  listed: readonly ArchivedTable[],
  catalogue: Parameters<typeof cataloguedTables>[1],
  references: Parameters<typeof cataloguedTables>[2]['references'] = [],
) => cataloguedTables(listed, catalogue, { references, defaults: new Map([['one.kind', `'x'`]]) })

test('a table of an archive has every column but the site, what the database gives, and what stays', () => {
  const one = inDatabase(
    'one',
    column('kind', { hasDefault: true }),
    column('failures', { type: 'integer' }),
    column('length', { isGenerated: true }),
    column('number', { isIdentity: true }),
  )
  const [table] = catalogued(
    [{ table: 'one', part: 'mail', stays: { failures: 'counts here' } }],
    [one, inDatabase('other')],
  )
  expect(table).toMatchObject({ table: 'one', orderBy: ['site_id', 'id'] })
  expect(table?.columns).toEqual([
    { name: 'id', type: 'text', isNullable: false, defaultValue: undefined },
    { name: 'kind', type: 'text', isNullable: false, defaultValue: `'x'` },
  ])
})

test('tables are in the order of the parts, each behind those that it refers to', () => {
  const listed = [
    { table: 'a', part: 'mail' },
    { table: 'b', part: 'users' },
    { table: 'c', part: 'users', orderBy: ['id'] },
    { table: 'a', part: 'definition' },
  ] as const
  const names = ['a', 'b', 'c'].map((name) => inDatabase(name))
  const tables = catalogued(listed, names, [reference('b', 'c'), reference('c', 'a')])
  expect(tables.map(({ part, table }) => `${part} ${table}`)).toEqual([
    'definition a',
    'users c',
    'users b',
    'mail a',
  ])
  expect(tables[1]?.orderBy).toEqual(['id'])
})
