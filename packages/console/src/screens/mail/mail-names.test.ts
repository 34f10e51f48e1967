import { describe, expect, test } from 'vitest'

import {
  type RepliedMessage,
  citedText,
  replyNames,
  shownAddress,
  shownName,
  splitAddresses,
} from './mail-names.ts'

test.each([
  ['Ann Lee <ann@shop.test>', 'Ann Lee', 'ann@shop.test'],
  ['"Lee, Ann" <ann@shop.test>', 'Lee, Ann', 'ann@shop.test'],
  ['<ann@shop.test>', 'ann@shop.test', 'ann@shop.test'],
  ['ann@shop.test', 'ann@shop.test', 'ann@shop.test'],
  ['', '', ''],
])('%s is %s at %s', (text, name, address) => {
  expect(shownName(text)).toBe(name)
  expect(shownAddress(text)).toBe(address)
})

test.each([
  ['a@b.test', ['a@b.test']],
  ['a@b.test, c@d.test;e@f.test\ng@h.test', ['a@b.test', 'c@d.test', 'e@f.test', 'g@h.test']],
  ['"Lee, Ann" <a@b.test>, c@d.test', ['"Lee, Ann" <a@b.test>', 'c@d.test']],
  [' , ;', []],
  ['"open, c@d.test', ['"open', 'c@d.test']],
])('%j has the recipients %j', (text, expected) => {
  expect(splitAddresses(text)).toEqual(expected)
})

describe('a reply', () => {
  const message: RepliedMessage = {
    mailbox: 'info@shop.test',
    folder: 'INBOX',
    from: 'Ann <ann@else.test>',
    to: ['info@shop.test', 'Bob <bob@else.test>'],
    cc: ['Cid <cid@else.test>', 'ANN@else.test'],
    replyTo: [],
  }

  test('goes to the author', () => {
    expect(replyNames(message, false)).toEqual(['Ann <ann@else.test>'])
  })

  test('goes where the author wants it', () => {
    expect(replyNames({ ...message, replyTo: ['desk@else.test'] }, false)).toEqual([
      'desk@else.test',
    ])
  })

  test('to all goes to everyone else once, and not to the mailbox itself', () => {
    expect(replyNames(message, true).map(shownAddress)).toEqual([
      'ANN@else.test',
      'bob@else.test',
      'cid@else.test',
    ])
  })

  test('to a message of one’s own goes to its recipients', () => {
    const own = { ...message, folder: 'SENT', from: 'info@shop.test', to: ['bob@else.test'] }
    expect(replyNames(own, false)).toEqual(['bob@else.test'])
  })

  test('cites the text', () => {
    expect(citedText('One\n\n> two\n\n')).toBe('> One\n>\n>> two')
  })
})
