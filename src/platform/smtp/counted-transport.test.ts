import { expect, test } from 'vitest'

import { CountedTransport } from './counted-transport.ts'
import { MailRefused, type MailTransport, type RawMail } from './mail-transport.ts'

// Nothing of a message is read here.
const MESSAGE = {} as RawMail
const signal = new AbortController().signal

function transport(delivers: boolean, send: () => Promise<void>): MailTransport {
  return { delivers, send, verify: send, [Symbol.asyncDispose]: async () => {} }
}

test.each([
  ['sent', true, () => Promise.resolve()],
  ['kept', false, () => Promise.resolve()],
  ['refused', true, () => Promise.reject(new MailRefused('no'))],
  ['failed', true, () => Promise.reject(new Error('away'))],
] as const)('a message that is %s is counted as that', async (outcome, delivers, send) => {
  const counted = new CountedTransport(transport(delivers, send))
  const ended = await counted.send(MESSAGE, signal).catch((error: unknown) => error)
  expect(ended === undefined).toBe(outcome === 'sent' || outcome === 'kept')
  const counts = Object.fromEntries(counted.outcomes.entries())
  expect(counts).toEqual({ sent: 0, kept: 0, refused: 0, failed: 0, [outcome]: 1 })
  expect(counted.durations.read().buckets.at(-1)?.count).toBe(1)
})
