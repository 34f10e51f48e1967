import { expect, test } from 'vitest'

import { mailPath, mailPlaceOf, messagesCall } from './folders.ts'

test.each([
  ['/mail', undefined, undefined, { mailbox: undefined, folder: 'INBOX' }],
  ['/mail/a%40b.test', 'a@b.test', undefined, { mailbox: 'a@b.test', folder: 'INBOX' }],
  ['/mail/a%40b.test/trash', 'a@b.test', 'trash', { mailbox: 'a@b.test', folder: 'TRASH' }],
  ['/mail/every/sent', 'every', 'sent', { mailbox: undefined, folder: 'SENT' }],
] as const)('%s is a place', (path, address, folder, place) => {
  expect(mailPlaceOf(address, folder)).toEqual(place)
  expect(mailPath(place)).toBe(path)
})

test('a folder that does not exist is the inbox', () => {
  expect(mailPlaceOf('a@b.test', 'drafts').folder).toBe('INBOX')
})

test('the command has the search as one word of a shell', () => {
  const place = { mailbox: 'a@b.test', folder: 'SENT' } as const
  expect(messagesCall(place, { q: `it's`, unread: false }).command).toBe(
    String.raw`croft mail list a@b.test --folder sent --search 'it'\''s'`,
  )
})

test('all mail names no folder', () => {
  const { query } = messagesCall(
    { mailbox: undefined, folder: 'ALL' },
    { q: undefined, unread: true },
  )
  expect(query).toEqual({ limit: '50', seen: 'false' })
})
