import { resolve } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { selectCataloguedTables } from '#archives/row-queries.ts'
import { ARCHIVED_TABLES, SITE_TABLES } from '#archives/site-tables.ts'
import { NOT_BACKED_UP } from '#platform/backup/not-backed-up.ts'
import { runOn, selectCatalogue } from '#platform/postgres/catalogue-queries.ts'
import type { CatalogueColumn, CatalogueTable } from '#platform/postgres/catalogue.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

/** What every table and column is for archives and backups: `-u` writes it, after a migration, for a look at the difference. */
const LISTED = resolve(import.meta.dirname, 'classification.txt')

let postgres: PostgresPlatform & TestDatabase
let tables: readonly CatalogueTable[]
beforeAll(async () => {
  postgres = await openDatabase()
  tables = await selectCatalogue(runOn(postgres.sql), 'public')
})
afterAll(() => postgres[Symbol.asyncDispose]())

const ofSites = () => tables.filter(({ columns }) => columns.some(({ name }) => name === 'site_id'))

const kindsOf = ({ name: table }: CatalogueTable, { name }: CatalogueColumn): string[] =>
  ARCHIVED_TABLES.filter((each) => each.table === table).flatMap(
    ({ secrets = {}, open = [], stays = {} }) => [
      ...(name in secrets ? ['secret'] : []),
      ...(open.includes(name) ? ['open'] : []),
      ...(name in stays ? [`stays: ${stays[name]}`] : []),
    ],
  )

test('every table of a site is exported, or stays for a reason', () => {
  expect(Object.keys(SITE_TABLES).toSorted()).toEqual(ofSites().map(({ name }) => name))
})

test('every column that could be a secret is one, is open, or stays', () => {
  const undecided = ofSites()
    .filter(({ name }) => ARCHIVED_TABLES.some(({ table }) => table === name))
    .flatMap((table) =>
      table.columns
        .filter((column) => couldBeSecret(column) && kindsOf(table, column).length === 0)
        .map(({ name }) => `${table.name}.${name}`),
    )
  expect(undecided).toEqual([])
})

test('every column travels but those that stay, and those that the database gives', async () => {
  const travelling = await postgres.database.withSite('one', selectCataloguedTables)
  expect(travelling.map(({ table, part }) => `${part} ${table}`).toSorted()).toEqual(
    ARCHIVED_TABLES.map(({ table, part }) => `${part} ${table}`).toSorted(),
  )
  for (const { table, columns, stays = {} } of travelling) {
    const all = tables.find(({ name }) => name === table)?.columns ?? []
    const given = all.filter(({ isGenerated, isIdentity }) => isGenerated || isIdentity)
    const left = ['site_id', ...Object.keys(stays), ...given.map(({ name }) => name)]
    expect([...columns.map(({ name }) => name), ...left].toSorted(), table).toEqual(
      all.map(({ name }) => name).toSorted(),
    )
  }
})

test('every table and column is listed as what it is', async () => {
  const lines = tables.flatMap((table) => [
    `${table.name}: ${tableText(table)}`,
    ...table.columns.map(
      (column) => `  ${column.name}, ${column.type}${columnText(table, column)}`,
    ),
  ])
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(LISTED)
})

function tableText({ schema, name }: CatalogueTable): string {
  const how = Object.entries(SITE_TABLES).find(([table]) => table === name)?.[1]
  const parts = ARCHIVED_TABLES.filter(({ table }) => table === name).map(({ part }) => part)
  const archived = typeof how === 'string' ? `stays: ${how}` : `archived with ${parts.join(', ')}`
  const left = NOT_BACKED_UP.get(`${schema}.${name}`)
  const backedUp = left === undefined ? 'backed up' : `not backed up: ${left}`
  return how === undefined ? backedUp : `${backedUp}; ${archived}`
}

function columnText(table: CatalogueTable, column: CatalogueColumn): string {
  if (column.isGenerated) return ', computed'
  if (column.isIdentity) return ', numbered'
  return [...new Set(kindsOf(table, column))].map((kind) => `, ${kind}`).join('')
}

const couldBeSecret = ({ name, type }: CatalogueColumn): boolean =>
  type === 'bytea' ||
  (/^(?:text|jsonb)/.test(type) && /sealed|secret|hash|password|private/.test(name))
