import { describe, expect, test } from 'vitest'

import { MemoryBudget } from '#base/memory-budget.ts'
import { MemoryCounters } from '#platform/redis/memory-counters.ts'
import type { Call } from '#platform/sandbox-host/call.ts'
import type { HostCall, SiteLimits } from '#platform/sandbox-host/sandbox.ts'

import { MailCalls } from './mail-calls.ts'
import type { SiteMessage } from './site-mail.ts'

const HOUR_MS = 3_600_000

/** Mail of sites under a clock of its own; `fail` makes the next message fail. */
function desk() {
  let nowMs = Date.parse('2026-11-20T12:00:00Z')
  let failing = false
  const sent: SiteMessage[] = []
  const calls = new MailCalls({
    counters: new MemoryCounters({ clock: { now: () => new Date(nowMs) } }),
    mail: {
      async send(_siteId, message) {
        if (failing) throw new Error('the database is away')
        sent.push(message)
        return message.to.map((_, at) => `msg_${sent.length}_${at}`)
      },
      async stagePart() {
        return 'stg_1'
      },
      async sendFromMailbox() {
        return { id: 'msg_1', threadId: 'msg_1' }
      },
    },
  })
  return {
    calls,
    sent,
    pass: (ms: number) => void (nowMs += ms),
    fail: (now: boolean) => void (failing = now),
    send: (recipients: number, part: Partial<Call> = {}) => calls.send(callOf(recipients, part)),
  }
}

const program = {
  key: 'site_a@1',
  siteId: 'site_a',
  siteDomain: 'a.test',
  limits: {} as SiteLimits,
  functions: new Map(),
}

const callOf = (recipients: number, part: Partial<Call>): HostCall => ({
  call: {
    site: { siteId: 'site_a', domain: 'a.test' },
    authority: 'system',
    depth: 0,
    operation: 'op',
    requestId: 'req',
    body: '{}',
    ...part,
  },
  program,
  function: { functionId: 'res_1', name: 'f', stores: new Map() },
  name: 'sendEmail',
  argument: JSON.stringify({
    to: Array.from({ length: recipients }, (_, n) => `r${n}@b.test`),
    subject: 'Hi',
    text: 'Hi',
  }),
  memory: new MemoryBudget({ maxBytes: 1, maxBytesPerKey: 1, reservedBytes: 0 }).lease('site_a'),
  signal: new AbortController().signal,
})

const LIMITED = {
  code: 'TooManyRequests',
  fields: { limit: { name: 'mailRecipientsPerHour', value: 500 } },
}

describe('mail of a site', () => {
  test('reaches 500 recipients an hour, all of a message or none', async () => {
    const { sent, send, pass } = desk()
    for (let batch = 0; batch < 9; batch += 1) await send(50)
    await send(20)
    await expect(send(31)).rejects.toMatchObject(LIMITED)
    await send(30)
    await expect(send(1)).rejects.toMatchObject({ ...LIMITED, retryAfterSeconds: 3600 })
    expect(sent.flatMap(({ to }) => to)).toHaveLength(500)
    await send(1, { site: { siteId: 'site_b', domain: 'b.test' } })
    pass(HOUR_MS + 1)
    expect(JSON.parse(await send(2))).toEqual({
      messageId: 'msg_13_0',
      messageIds: ['msg_13_0', 'msg_13_1'],
    })
  })

  test('reaches 100 for the strangers of one network, and then still the others', async () => {
    const { send, pass } = desk()
    const from = (address: string) => ({ authority: null, address })
    await send(50, from('203.0.113.7'))
    await send(40, from('203.0.113.7'))
    const limit = { name: 'mailRecipientsOfStrangersPerHour', value: 100 }
    await expect(send(11, from('203.0.113.7'))).rejects.toMatchObject({ fields: { limit } })
    await send(10, from('203.0.113.7'))
    await expect(send(1, from('203.0.113.7'))).rejects.toMatchObject({ retryAfterSeconds: 3600 })
    await send(50, from('2001:db8::1'))
    await send(50, from('2001:db8::2'))
    await expect(send(1, from('2001:db8::3'))).rejects.toMatchObject({ fields: { limit } })
    for (let batch = 0; batch < 6; batch += 1) await send(50)
    // The site's own use is not counted on any network.
    await expect(send(50, from('203.0.113.9'))).rejects.toMatchObject(LIMITED)
    pass(HOUR_MS - 1)
    await expect(send(50, from('203.0.113.9'))).rejects.toMatchObject(LIMITED)
    pass(2)
    await send(50, from('203.0.113.9'))
    await send(50, from('203.0.113.9'))
  })

  test('that could not be kept is not counted', async () => {
    const { send, fail } = desk()
    fail(true)
    for (let batch = 0; batch < 12; batch += 1) {
      await expect(send(50)).rejects.toThrow('the database is away')
    }
    fail(false)
    await send(50)
  })

  test('is for functions only', async () => {
    const hostCall = { ...callOf(1, {}), function: null }
    await expect(desk().calls.send(hostCall)).rejects.toMatchObject({ code: 'Forbidden' })
  })
})
