import { randomBytes } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { Acceptance, newMessages } from './acceptance.ts'
import type { InboundMessage } from './model.ts'
import type { LockedMailbox } from './queries.ts'

/** "The mailbox is full: try again later", RFC 5321. */
const FULL = 452
const NOBODY = { address: '', heloName: '', protocol: '', tls: null }
const UNKNOWN = {
  spf: 'none',
  dkim: 'none',
  dmarc: 'none',
  arc: 'none',
  spfDomain: null,
  dkimDomains: [],
  fromDomain: null,
  dmarcPolicy: null,
}
const HEADERS = {
  subject: '',
  from: '',
  fromAddress: '',
  authors: [],
  authorIdentifiers: [],
  to: [],
  cc: [],
  replyTo: [],
  messageId: null,
  inReplyTo: null,
  references: [],
}

/** A message of 100 bytes. */
const arrival = (mailboxes: readonly string[], sha256 = randomBytes(32)): InboundMessage => ({
  rawId: 'raw',
  sizeBytes: 100,
  sha256,
  sender: 'vic@else.test',
  from: NOBODY,
  traceHeader: '',
  authentication: UNKNOWN,
  headers: HEADERS,
  receivedAt: new Date(0),
  deliveries: mailboxes.map((mailboxId) => ({ mailboxId, recipient: `${mailboxId}@one.test` })),
})

const mailbox = (mailboxId: string, room: Partial<LockedMailbox> = {}): LockedMailbox => ({
  mailboxId,
  status: 'ACTIVE',
  usedBytes: '0',
  usedMessages: '0',
  quotaBytes: null,
  quotaMessages: null,
  isForwarding: false,
  ...room,
})

function deciding(
  mailboxes: readonly LockedMailbox[],
  limits: object = {},
): (wanted: InboundMessage) => number {
  const acceptance = new Acceptance({
    mailboxes,
    usage: { usedBytes: '0', usedMessages: '0', deploymentSettings: { limits } },
    accepted: [],
  })
  return (wanted) => {
    const decision = acceptance.decide(newMessages(wanted, () => 'msg'))
    return 'refusal' in decision ? decision.refusal.responseCode : decision.messages.length
  }
}

describe('the messages of one batch', () => {
  test.each([
    ['messages of a mailbox', { quotaMessages: '2' }, {}],
    ['bytes of a mailbox', { quotaBytes: '250' }, {}],
    ['messages of a site', {}, { mailMessages: 2 }],
    ['bytes of a site', {}, { mailBytes: 250 }],
  ])('together keep the quota of %s', (_what, quota, limits) => {
    const decide = deciding([mailbox('a', quota)], limits)
    expect([1, 2, 3].map(() => decide(arrival(['a'])))).toEqual([1, 1, FULL])
  })

  test('take the room of their own mailboxes alone', () => {
    const decide = deciding([mailbox('a', { quotaMessages: '1' }), mailbox('b')])
    expect(decide(arrival(['a', 'b']))).toBe(2)
    expect(decide(arrival(['a']))).toBe(FULL)
    expect(decide(arrival(['b']))).toBe(1)
  })

  test('go into all of their mailboxes or none', () => {
    const decide = deciding([mailbox('a'), mailbox('b', { quotaMessages: '0' })])
    expect(decide(arrival(['a', 'b']))).toBe(FULL)
    expect(decide(arrival(['a']))).toBe(1)
  })

  test('are there once, also when they take the last room', () => {
    const decide = deciding([mailbox('a', { quotaMessages: '1' })])
    const same = arrival(['a'])
    expect([same, same].map(decide)).toEqual([1, 0])
  })
})
