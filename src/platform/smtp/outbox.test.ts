import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { RawMail } from './mail-transport.ts'
import { Outbox } from './outbox.ts'

let dir: string
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'croft-outbox-')), 'outbox')
})
afterEach(() => rm(join(dir, '..'), { recursive: true, force: true }))

const message = (at: number, more: Partial<RawMail> = {}): RawMail => ({
  messageId: `msg_${at}`,
  siteId: 'site_a',
  siteDomain: 'one.test',
  kind: 'invite',
  from: 'no-reply@one.test',
  to: 'vic@example.org',
  subject: `Message ${at}`,
  text: 'text',
  html: '<p>html</p>',
  createdAt: new Date(1_800_000_000_000 + at),
  mime: Buffer.from(`Subject: Message ${at}\r\n\r\n`),
  ...more,
})
const subjects = async (outbox: Outbox) => {
  const { items } = await outbox.list({}, { limit: 100, after: undefined })
  return items.map(({ subject }) => subject)
}

describe('an outbox', () => {
  test('is empty before the first message', async () => {
    expect(await subjects(new Outbox(dir))).toEqual([])
    await new Outbox(dir).deleteSite('site_a')
  })

  test('keeps the newest and drops the oldest, with their files', async () => {
    const outbox = new Outbox(dir, 3)
    for (const at of [5, 1, 4, 2, 3]) await outbox.send(message(at))
    expect(await subjects(outbox)).toEqual(['Message 5', 'Message 4', 'Message 3'])
    expect((await readdir(dir)).toSorted()).toEqual(
      [3, 4, 5].flatMap((at) => [
        `00180000000000${at}-msg_${at}.eml`,
        `00180000000000${at}-msg_${at}.json`,
      ]),
    )
  })

  test('has a message once that was put twice', async () => {
    const outbox = new Outbox(dir)
    await outbox.send(message(1))
    await outbox.send(message(1))
    expect(await subjects(outbox)).toEqual(['Message 1'])
  })

  test('takes messages from many hands at once', async () => {
    const [one, two] = [new Outbox(dir, 10), new Outbox(dir, 10)]
    const all = Array.from({ length: 30 }, (_, at) => (at % 2 ? one : two).send(message(at)))
    await Promise.all(all)
    const left = await subjects(one)
    expect(left).toHaveLength(10)
    expect(left[0]).toBe('Message 29')
  })

  test('passes over files that are not its own, and messages that never became whole', async () => {
    const outbox = new Outbox(dir)
    await outbox.send(message(1))
    await writeFile(join(dir, '001800000000002-msg_2.eml'), 'half')
    await writeFile(join(dir, '001800000000003-msg_3.json.a1b2c3'), '{"half')
    await writeFile(join(dir, '001800000000004-msg_4.json'), '{}')
    await writeFile(join(dir, 'notes.txt'), 'mine')
    expect(await subjects(outbox)).toEqual(['Message 1'])
  })
})
