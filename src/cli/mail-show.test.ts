import { expect, test } from 'vitest'

import { messageText } from './mail-show.ts'

const MESSAGE: Parameters<typeof messageText>[0] = {
  id: 'msg_1',
  mailbox: 'info@one.test',
  folder: 'TRASH',
  subject: 'Hello',
  hasAttachments: false,
  seen: true,
  from: 'Ann <ann@a.test>',
  to: ['info@one.test', 'Bob <bob@a.test>'],
  threadId: 'thr_1',
  snippet: '',
  receivedAt: '2026-01-01T12:00:00.000Z',
  deleted: true,
  cc: ['c@a.test'],
  replyTo: ['r@a.test'],
  text: 'Text',
  html: null,
  attachments: [],
  rawUrl: '',
  messageId: 'id@a.test',
  inReplyTo: 'before@a.test',
  references: [],
  authentication: { spf: 'pass', dkim: 'fail', dmarc: 'none' },
  size: 100,
  parsing: 'parsed',
  truncated: false,
  deliveries: [],
}

test('a message is shown by the headers that it has', () => {
  expect(messageText(MESSAGE)).toBe(
    [
      'from         Ann <ann@a.test>',
      'to           info@one.test, Bob <bob@a.test>',
      'cc           c@a.test',
      'reply to     r@a.test',
      'subject      Hello',
      'received     2026-01-01T12:00:00.000Z',
      'mailbox      info@one.test, TRASH, deleted',
      'verdict      SPF pass, DKIM fail, DMARC none',
      'size         100 bytes',
      'id           msg_1',
      'message id   id@a.test',
      'in reply to  before@a.test',
      '',
      'Text',
    ].join('\n'),
  )
})

test.each([
  ['is not read yet', { parsing: 'pending', text: '' }, /It is not read yet[^\n]*$/],
  ['cannot be read', { parsing: 'failed' }, /It cannot be read[^\n]*\n\nText$/],
  ['is cut', { truncated: true }, /It is cut[^\n]*\n\nText$/],
  ['has no text', { text: '' }, /It has no text\.$/],
] as const)('a message that %s says so', (_what, differing, end) => {
  expect(messageText({ ...MESSAGE, ...differing })).toMatch(end)
})
