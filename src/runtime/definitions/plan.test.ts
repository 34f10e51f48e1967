import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { ParsedDefinition } from './parse.ts'
import { changedFields, type Mode, planDefinition, type SiteState } from './plan.ts'
import { type DefinedItem, SECTION_NAMES, type SectionName, type SiteItem } from './section.ts'

type Table = Partial<Record<SectionName, readonly SiteItem[]>>

const item = (name: string, rest: Partial<DefinedItem> = {}): SiteItem => ({
  name,
  canonical: { name },
  links: [],
  ...rest,
})
const defined = (of: SiteItem): DefinedItem => ({ ...of, put: () => Promise.resolve('none') })
const definitionOf = (table: Table): ParsedDefinition =>
  new Map(
    SECTION_NAMES.flatMap((name) => {
      const items = table[name]
      return items ? [[name, items.map((of, index) => ({ index, item: defined(of) }))]] : []
    }),
  )
const siteOf = (table: Table): SiteState =>
  new Map(SECTION_NAMES.map((name) => [name, table[name] ?? []]))
const plan = (definition: Table, site: Table, mode: Mode = 'replace') =>
  planDefinition(definitionOf(definition), siteOf(site), { mode, known: new Map(), renames: [] })
const words = (definition: Table, site: Table, mode?: Mode) =>
  plan(definition, site, mode).changes.map(({ action, name }) => `${action} ${name}`)

const table = item('table', { type: 'ddbTable' })
const toTable = {
  field: 'config.resources[0].resource',
  section: 'resources',
  name: 'table',
} as const
const func = item('func', {
  type: 'lambdaFunction',
  links: [{ ...toTable, types: ['ddbTable', 's3Bucket'] }],
})
const operation = item('op', {
  links: [
    { field: 'lambdaResource', section: 'resources', name: 'func', types: ['lambdaFunction'] },
  ],
})
const whole = { resources: [func, table], operations: [operation], groups: [item('g')] }

describe('a plan', () => {
  test('creates dependencies first, and removes them last', () => {
    expect(words(whole, {})).toEqual(['create g', 'create table', 'create func', 'create op'])
    expect(words({ groups: [], resources: [], operations: [] }, whole)).toEqual([
      'delete op',
      'delete func',
      'delete table',
      'delete g',
    ])
  })

  test('deletes after it has created and updated', () => {
    expect(words({ groups: [item('new')] }, { groups: [item('old')] })).toEqual([
      'create new',
      'delete old',
    ])
  })

  test('deletes nothing in mode apply, and leaves an absent section alone', () => {
    expect(words({ groups: [] }, whole, 'apply')).toEqual([])
    expect(words({ groups: [] }, whole, 'replace')).toEqual(['delete g'])
  })

  test.each<[string, Table, Table, string[]]>([
    ['a link to nothing', { operations: [operation] }, {}, ['operations[0].lambdaResource']],
    [
      'a link to another kind',
      { resources: [item('func', { type: 's3Bucket' })], operations: [operation] },
      {},
      ['operations[0].lambdaResource'],
    ],
    ['a deletion under what stays', { resources: [] }, whole, ['resources']],
    [
      'a deletion under what is named',
      { resources: [func] },
      whole,
      ['resources[0].config.resources[0].resource'],
    ],
  ])('is refused with %s', (_what, definition, site, fields) => {
    expect(plan(definition, site).faults.map(({ field }) => field)).toEqual(fields)
  })

  test('sets aside what another thing takes the name of, and binds its dependents again', () => {
    const bucket = item('table', {
      type: 's3Bucket',
      mustReplace: (current) => current.type !== 's3Bucket',
    })
    const definition = { resources: [bucket, func] }
    const site = { resources: [func, table] }
    expect(words(definition, site)).toEqual(['create table', 'update func', 'delete table'])
    expect(plan(definition, site).faults).toEqual([])
    expect(plan(definition, site).changes[1]?.fields).toEqual(['config.resources'])
    expect(words(definition, site, 'plan')).toEqual(['create table', 'update func', 'delete table'])
    expect(words(definition, site, 'apply')).not.toContain('delete table')
  })

  test('asks of mode plan no more than apply would', () => {
    expect(plan({ resources: [] }, whole, 'plan').faults).toEqual([])
    expect(words({ resources: [] }, whole, 'plan')).toEqual(['delete func', 'delete table'])
  })

  test('leads from any state to any other, and then there is nothing left', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'))
    const items = names.chain((list) =>
      fc.tuple(
        ...list.map((name) => fc.nat(2).map((size) => item(name, { canonical: { name, size } }))),
      ),
    )
    const state = fc.record({ groups: items, jobs: items })
    fc.assert(
      fc.property(state, state, (from, to) => {
        const { changes, faults } = plan(to, from)
        expect(faults).toEqual([])
        const after = new Map(
          (['groups', 'jobs'] as const).map((section) => {
            const names = new Map(from[section].map((of) => [of.name, of]))
            for (const { name, action } of changes.filter((change) => change.section === section)) {
              const wanted = to[section].find((of) => of.name === name)
              if (action === 'delete') names.delete(name)
              else if (action !== 'none' && wanted) names.set(name, wanted)
            }
            return [section, [...names.values()]]
          }),
        )
        const again = plan(to, Object.fromEntries(after))
        expect(again.changes.every(({ action }) => action === 'none')).toBe(true)
      }),
    )
  })
})

describe('the fields that an update changes', () => {
  test('are named down to the part that differs', () => {
    const before = { config: { memoryMb: 1, list: [1], same: { a: 1 } }, gone: 1, same: 1 }
    const after = { config: { memoryMb: 2, list: [2], same: { a: 1 } }, same: 1, added: null }
    expect(changedFields(before, after, false)).toEqual([
      'config.memoryMb',
      'config.list',
      'gone',
      'added',
    ])
  })

  test('of a partial item are those that it names', () => {
    expect(changedFields({ value: 'x', secret: true }, { secret: true }, true)).toEqual([])
  })
})
