import { describe, expect, test } from 'vitest'

import type { RevisionFunction, RevisionStore } from '#runtime/published/revision-document.ts'
import { siteLimits } from '#runtime/revisions/limits.ts'

import { type BoundOperation, withDigests } from './operation-digests.ts'

const functionOf = (
  functionId: string,
  rest: Partial<RevisionFunction> = {},
): RevisionFunction => ({
  functionId,
  name: functionId,
  entry: 'main.js',
  handler: 'default',
  timeoutMs: 15_000,
  memoryMb: 128,
  grants: [{ resourceId: 'table', access: 'read' }],
  environment: ['KEY'],
  modules: [functionId],
  fault: null,
  ...rest,
})
const tableOf = (resourceId: string, name: string): RevisionStore => ({
  resourceId,
  type: 'ddbTable',
  name,
  config: { partitionKey: { name: 'id', type: 'S' } },
})
const boundTo = (functionId: string, rest: Partial<BoundOperation> = {}): BoundOperation => ({
  operation: functionId,
  auth: { mode: 'public' },
  cacheTtlSeconds: 60,
  functionId,
  preset: null,
  ...rest,
})
const listing: BoundOperation = {
  ...boundTo('list'),
  functionId: null,
  preset: { preset: 'ddb.scan', resourceId: 'table' },
}
const moduleOf = (code: string) => ({ path: 'main.js', format: 'esm', code }) as const
const compiled = {
  functions: [functionOf('price'), functionOf('caller'), functionOf('other')],
  stores: [tableOf('table', 'prices'), tableOf('unused', 'unused')],
  modules: {
    price: moduleOf('export default () => 1'),
    caller: moduleOf('export default (_, ctx) => ctx.operation("other")'),
    other: moduleOf('export default () => 2'),
  },
  env: [
    { name: 'KEY', secret: true, sealed: 'a' },
    { name: 'OTHER', secret: true, sealed: 'b' },
  ],
  egressAllow: ['api.test'],
  limits: siteLimits({}),
}
const operations = [boundTo('price'), boundTo('caller'), boundTo('other'), listing]

function digestsOf(change: Partial<typeof compiled> = {}, bound = operations) {
  const made = withDigests(bound, { ...compiled, ...change })
  return new Map(made.map(({ operation, digest }) => [operation, digest]))
}
const before = digestsOf()
const changedBy = (change: Partial<typeof compiled>, bound = operations): string[] => {
  const after = digestsOf(change, bound)
  return [...before.keys()].filter((name) => after.get(name) !== before.get(name))
}
const changedOther = (rest: Partial<RevisionFunction>) => ({
  functions: [functionOf('price'), functionOf('caller'), functionOf('other', rest)],
})

describe('the digest of an operation', () => {
  test('is the same for the same revision, however its fields are ordered', () => {
    const reordered = {
      ...listing,
      preset: { resourceId: 'table', preset: 'ddb.scan' },
    } as const
    expect(changedBy({}, [...operations.slice(0, 3), reordered])).toEqual([])
  })

  test.each<[string, Partial<typeof compiled>, string[]]>([
    ['the code of another', changedOther({ modules: ['new'] }), ['caller', 'other']],
    ['the handler of another', changedOther({ handler: 'run' }), ['caller', 'other']],
    ['the memory of another', changedOther({ memoryMb: 64 }), ['caller', 'other']],
    ['the grants of another', changedOther({ grants: [] }), ['caller', 'other']],
    ['the variables of another', changedOther({ environment: [] }), ['caller', 'other']],
    [
      'a function that nothing is bound to',
      { functions: [...compiled.functions, functionOf('x')] },
      [],
    ],
    ['a store without grants', { stores: compiled.stores.slice(0, 1) }, []],
    ['a table that was made again', { stores: [tableOf('again', 'prices')] }, [...before.keys()]],
    ['a table of another name', { stores: [tableOf('table', 'costs')] }, [...before.keys()]],
    [
      'a variable that is written again',
      { env: [{ name: 'KEY', secret: true, sealed: 'c' }] },
      ['price', 'caller', 'other'],
    ],
    ['a variable that none of them names', { env: compiled.env.slice(0, 1) }, []],
    ['the hosts that code may reach', { egressAllow: [] }, ['price', 'caller', 'other']],
    [
      'how much an answer may hold',
      { limits: siteLimits({ resultBytes: 10 }) },
      ['price', 'caller', 'other'],
    ],
    ['how many may run at once', { limits: siteLimits({ concurrency: 1 }) }, []],
  ])('with %s changes where it has to', (_what, change, expected) => {
    expect(changedBy(change)).toEqual(expected)
  })

  test.each<[string, Partial<BoundOperation>]>([
    ['who may call it', { auth: { mode: 'authenticated' } }],
    ['how long answers are kept', { cacheTtlSeconds: 10 }],
    ['another function', { functionId: 'other' }],
  ])('changes with %s', (_what, rest) => {
    expect(changedBy({}, [boundTo('price', rest), ...operations.slice(1)])).toEqual([
      'price',
      'caller',
    ])
  })

  test('of code that calls operations changes when one is added', () => {
    expect(changedBy({}, [...operations, boundTo('price', { operation: 'more' })])).toEqual([
      'caller',
    ])
  })
})
