import { describe, expect, test } from 'vitest'

import { definitionDiff } from './definition-diff.ts'

const table = (name: string, config: object = { partitionKey: { name: 'id', type: 'S' } }) => ({
  type: 'ddbTable',
  name,
  config,
})
const text = (definition: object): string => JSON.stringify(definition)

describe('the difference of two definitions', () => {
  test('names entries that come, go and differ, section by section', () => {
    const before = text({
      resources: [table('kept'), table('changed'), table('gone')],
      jobs: [{ jobId: 'tick', operation: 'a' }],
    })
    const after = text({
      resources: [table('new'), table('changed', { ttlAttribute: 'ttl' }), table('kept')],
      jobs: [{ operation: 'a', jobId: 'tick' }],
      operations: [{ operation: 'list' }],
    })
    expect(definitionDiff(before, after)).toEqual([
      { section: 'resources', name: 'changed', action: 'changed' },
      { section: 'resources', name: 'gone', action: 'removed' },
      { section: 'resources', name: 'new', action: 'added' },
      { section: 'operations', name: 'list', action: 'added' },
    ])
  })

  test('has everything as added where there was none, and as removed where there is none', () => {
    const definition = text({ groups: [{ groupName: 'staff' }], envVars: [{ name: 'KEY' }] })
    const names = definitionDiff(undefined, definition).map(({ name, action }) => [name, action])
    expect(names).toEqual([
      ['KEY', 'added'],
      ['staff', 'added'],
    ])
    expect(definitionDiff(definition, undefined)).toHaveLength(2)
  })

  test.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['sections that are none', '{"resources":7,"jobs":[1,null,"x"]}'],
    ['a depth that is not walked', `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
  ])('takes %s as no definition', (_what, broken) => {
    expect(definitionDiff(broken, broken)).toEqual([])
    expect(definitionDiff(broken, text({ resources: [table('a')] }))).toHaveLength(1)
  })
})
