import { describe, expect, test } from 'vitest'

import { parseMessageFilter } from './message-filter.ts'

const foldersOf = (query: Parameters<typeof parseMessageFilter>[0]) =>
  parseMessageFilter(query).folders.map(
    ({ folder, deleted }) => `${folder}${deleted ? ' deleted' : ''}`,
  )

describe('the folders of a search', () => {
  test.each([
    ['all but the trash', { q: 'x' }, ['INBOX', 'SENT', 'ARCHIVE']],
    ['the one that it names', { q: 'in:Sent' }, ['SENT']],
    ['any of several', { q: 'in:sent in:trash' }, ['SENT', 'TRASH']],
    ['all of them', { q: 'in:anywhere' }, ['INBOX', 'SENT', 'ARCHIVE', 'TRASH']],
    ['all but one', { q: '-in:sent' }, ['INBOX', 'ARCHIVE']],
    [
      'with what was deleted',
      { q: 'in:trash', includeDeleted: 'true' },
      ['TRASH', 'TRASH deleted'],
    ],
    ['within that of the list', { q: 'in:inbox in:sent', folder: 'sent' }, ['SENT']],
    ['none outside of it', { q: 'in:inbox', folder: 'sent' }, []],
  ])('are %s', (_what, query, folders) => {
    expect(foldersOf(query)).toEqual(folders)
  })
})

test.each([
  ['is:unread', { seen: false }],
  ['is:read', { seen: true }],
  ['-is:unread', { seen: true }],
  ['after:2026-01-01', { from: new Date('2026-01-01') }],
  ['after:2026/01/01 after:2026-02-01', { from: new Date('2026-02-01') }],
  ['before:2026-01-01 before:2026-02-01T10:00:00Z', { until: new Date('2026-01-01') }],
  ['-before:2026-01-01', { from: new Date('2026-01-01') }],
  ['-after:2026-01-01', { until: new Date('2026-01-01') }],
])('%s filters the list', (q, expected) => {
  const filter = parseMessageFilter({ q })
  expect(filter).toMatchObject({ search: [], ...expected })
})

test('a search confines what the list asks for, and never widens it', () => {
  const query = {
    q: 'after:2026-01-01 before:2026-03-01',
    since: '2026-02-01',
    until: '2026-04-01',
  }
  expect(parseMessageFilter(query)).toMatchObject({
    from: new Date('2026-02-01'),
    until: new Date('2026-03-01'),
  })
  expect(foldersOf({ q: 'is:read', seen: 'false' })).toEqual([])
  expect(foldersOf({ q: 'is:read is:unread' })).toEqual([])
})

test.each(['startTime', 'from', 'since', 'after', 'endTime', 'to', 'until', 'before'] as const)(
  'a fault of %s names it',
  (name) => {
    expect(() => parseMessageFilter({ [name]: 'yesterday' })).toThrow(`${name}: must be a time`)
  },
)

test.each([
  ['in:spam', /q: has "in:spam"; there are "in:inbox".*"in:anywhere"/],
  ['is:starred', /q: has "is:starred"; there are "is:unread", "is:read"/],
  ['before:yesterday', /q: before: must be a time/],
])('%s is refused', (q, message) => {
  expect(() => parseMessageFilter({ q })).toThrow(message)
})
