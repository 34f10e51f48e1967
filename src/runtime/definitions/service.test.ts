import { describe, expect, test } from 'vitest'

import type { Change } from './plan.ts'
import type { SiteItem } from './section.ts'
import { sectionLimitFaults } from './service.ts'

const items = (count: number): SiteItem[] =>
  Array.from({ length: count }, (_, at) => ({ name: `i${at}`, canonical: {}, links: [] }))
const changes = (section: Change['section'], action: Change['action'], count: number): Change[] =>
  items(count).map(({ name }) => ({ section, name, action, fields: [], renamedFrom: null }))
const sections = [
  { name: 'envVars', maxItems: 5, actions: async () => new Map() },
  { name: 'jobs', maxItems: 5 },
] as const

describe('room for a definition', () => {
  test.each<[string, number, Change[], string | undefined]>([
    ['that fills the site', 3, changes('jobs', 'create', 2), undefined],
    ['that adds nothing to a full site', 5, changes('jobs', 'update', 5), undefined],
    ['of another section', 5, changes('resources', 'create', 9), undefined],
    ['of a section that counts itself', 0, changes('envVars', 'create', 9), undefined],
    ['that adds too much', 3, changes('jobs', 'create', 3), 'leave some out'],
    [
      'that fits when its deletions are done',
      3,
      [...changes('jobs', 'create', 3), ...changes('jobs', 'delete', 2)],
      undefined,
    ],
    [
      'that deletes too little',
      5,
      [...changes('jobs', 'create', 3), ...changes('jobs', 'delete', 1)],
      'leave some out',
    ],
  ])('%s', (_what, has, asked, words) => {
    const faults = sectionLimitFaults(asked, new Map([['jobs', items(has)]]), sections)
    expect(faults.map(({ field }) => field)).toEqual(words === undefined ? [] : ['jobs'])
    expect(faults[0]?.message ?? '').toContain(words ?? '')
  })
})
