import { expect, test } from 'vitest'

import { changedValues } from './changed-values.ts'

test('of two records are those that differ, with the value before', () => {
  const before = { mode: 'groups', groups: 'staff', ttl: 0, same: true }
  const after = { mode: 'public', ttl: 60, same: true, cron: '0 * * * *' }
  expect(changedValues(before, after)).toEqual({
    mode: 'public',
    modeBefore: 'groups',
    groups: '',
    groupsBefore: 'staff',
    ttl: 60,
    ttlBefore: 0,
    cron: '0 * * * *',
    cronBefore: '',
  })
  expect(changedValues(before, before)).toEqual({})
})
