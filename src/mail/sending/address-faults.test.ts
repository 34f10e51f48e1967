import { expect, test } from 'vitest'

import { MailRefused } from '#platform/smtp/mail-transport.ts'

import { isAddressBounce, isAddressFault } from './address-faults.ts'

const refused = (words: string, enhancedCode?: string, command = 'RCPT TO') =>
  new MailRefused(words, { command, responseCode: Number(words.slice(0, 3)), enhancedCode })

test.each([
  [true, refused('550 whatever', '5.1.1')],
  [true, refused('550 whatever', '5.1.10')],
  [true, refused('550 User unknown')],
  [true, refused('550 … mailbox does not exist')],
  [true, refused('551 no such user here')],
  [false, refused('550 User unknown', '5.7.1')],
  [false, refused('552 mailbox full', '5.2.2')],
  [false, refused('554 User unknown')],
  [false, refused('550 blocked by policy')],
  [false, refused('550 no such user here', '5.1.1', 'DATA')],
  [false, new MailRefused('no server was asked')],
  [false, new Error('550 5.1.1 User unknown')],
])('%s: an address is none after %s', (expected, error) => {
  expect(isAddressFault(error)).toBe(expected)
})

test.each([
  [true, '5.1.1', null],
  [true, null, 'smtp; 550 user unknown'],
  [false, '5.2.2', 'smtp; 550 user unknown'],
  [false, null, 'smtp; 452 user unknown'],
  [false, null, null],
])('%s: an address is none after a bounce with %s and "%s"', (expected, status, diagnostic) => {
  expect(isAddressBounce(status, diagnostic)).toBe(expected)
})
