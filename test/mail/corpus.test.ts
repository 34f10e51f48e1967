import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { Sample } from '#corpus/sample.ts'
import { SAMPLES } from '#corpus/samples.ts'
import { type ReceivedMail, receive, stored } from '#test/received-mail.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
const received = new Map<string, ReceivedMail>()

beforeAll(async () => {
  stack = await startStack()
  for (const { name, build } of SAMPLES) received.set(name, await receive(stack, build()))
  const [{ siteId } = { siteId: '' }] = received.values()
  await stack.context.mailParsing.again({ siteId })
  await vi.waitUntil(async () => (await unparsed()) === 0, { timeout: 400_000, interval: 100 })
}, 500_000)
afterAll(() => stack[Symbol.asyncDispose]())

const unparsed = (): Promise<number> =>
  stack.inSite('one.test', async (tx) => {
    const rows = await tx.db
      .selectFrom('mail_raw')
      .select('raw_id')
      .where('site_id', '=', tx.siteId)
      .where('parse_status', '=', 'pending')
      .execute()
    return rows.length
  })

describe('the corpus', () => {
  test('has no two samples of a name, and at least 150', () => {
    expect(received.size).toBe(SAMPLES.length)
    expect(SAMPLES.length).toBeGreaterThanOrEqual(150)
  })

  test.each(SAMPLES)('is shown as expected: $name', async ({ name, expected }) => {
    const mail = received.get(name)
    if (!mail) throw new Error('not received')
    const [row, ...others] = await stored(stack, mail)
    expect(others).toEqual([])
    expect(row).toMatchObject(rowOf(expected))
    const attachments = namesOf(row?.attachments)
    expect({ attachments, attachmentCount: attachments.length }).toMatchObject(partsOf(expected))
  })
})

const rowOf = ({
  status = 'parsed',
  subject,
  text,
  html,
  truncated,
  bounce,
}: Sample['expected']) => ({
  status,
  ...(subject === undefined ? {} : { subject }),
  ...(text === undefined ? {} : { text: expect.stringContaining(text) }),
  ...(html === undefined ? {} : { html: html === null ? null : expect.stringContaining(html) }),
  ...(truncated === undefined ? {} : { truncated }),
  ...(bounce === undefined ? {} : { bounce }),
})

const partsOf = ({ attachments, attachmentCount }: Sample['expected']) => ({
  ...(attachments === undefined ? {} : { attachments }),
  ...(attachmentCount === undefined ? {} : { attachmentCount }),
})

const namesOf = (attachments: unknown): unknown[] =>
  Array.isArray(attachments) ? attachments.map(({ filename }) => filename) : []
