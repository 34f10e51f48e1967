import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { type ServerSentEvent, serverSentEvents } from '#test/http-client.ts'
import { storeMail } from '#test/mail-rows.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let pool: AdminPool
let ann: Member
beforeAll(async () => {
  stack = await startStack()
  pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
})
afterAll(() => stack[Symbol.asyncDispose]())

let made = 0
/** A mailbox with a message, and how to change it. */
async function mailbox(owners: readonly Member[]) {
  const address = `live-${++made}@one.test`
  const body = { address, owners: owners.map(({ userId }) => userId) }
  await ann.call('POST', '/mailboxes', { body })
  const { messageId } = await storeMail(stack, { mailbox: address })
  return {
    address,
    change: () => ann.call('POST', `/messages/${messageId}/seen`, { body: { seen: true } }),
  }
}

const follow = (by: Member, address?: string, port = stack.port) =>
  serverSentEvents({
    port,
    host: 'one.test',
    path: `/admin/api/messages/stream${address === undefined ? '' : `?mailbox=${address}`}`,
    headers: { authorization: `Bearer ${by.token}` },
  })

/** The stream begins with what happens next: changes again and again until it says so. */
async function nextOf(
  events: AsyncGenerator<ServerSentEvent>,
  change: () => Promise<unknown>,
): Promise<IteratorResult<ServerSentEvent>> {
  const changing = setInterval(() => void change(), 50)
  return events.next().finally(() => clearInterval(changing))
}

describe('the live stream', () => {
  test('says that the mailbox has news', async () => {
    const { address, change } = await mailbox([ann])
    const events = follow(ann, address)
    const { value } = await nextOf(events, change)
    expect(value).toMatchObject({ event: 'change', data: JSON.stringify({ mailbox: address }) })
    await events.return(undefined)
  })

  test('says nothing of mailboxes that were not asked for, or are not the reader’s', async () => {
    const ursula = await pool.joined('user')
    const [hers, other] = [await mailbox([ursula]), await mailbox([ann])]
    const both = async () => {
      await other.change()
      await hers.change()
    }
    for (const events of [
      follow(ursula),
      follow(ursula, hers.address),
      follow(ann, hers.address),
    ]) {
      const { value } = await nextOf(events, both)
      expect(value?.data).toBe(JSON.stringify({ mailbox: hers.address }))
      await events.return(undefined)
    }
  })

  test.each<[string, (address: string, who: Member) => Promise<{ readonly status: number }>]>([
    [
      'owns the mailbox no more',
      (address, { userId }) =>
        ann.call('DELETE', `/mailboxes/${address}/owners`, { body: { owners: [userId] } }),
    ],
    ['was deleted', (_address, { userId }) => ann.call('DELETE', `/users/${userId}`)],
    [
      'was signed out',
      (_address, { email }) =>
        stack.portal('DELETE', `/sites/one.test/sessions?user=${email}&pool=admin`),
    ],
  ])('ends for a reader who %s, before the next change', async (_what, end) => {
    const who = await pool.joined('user')
    const { address, change } = await mailbox([who, ann])
    const events = follow(who, address)
    expect((await nextOf(events, change)).done).toBe(false)
    expect((await end(address, who)).status).toBeLessThan(300)
    // What was on its way when the rights ended may still come.
    let ended = false
    while (!ended) ended = (await nextOf(events, change)).done === true
    expect(ended).toBe(true)
  })

  test('ends when the service drains', async () => {
    const beside = await startStack({ beside: stack })
    const { address, change } = await mailbox([ann])
    const events = follow(ann, address, beside.port)
    expect((await nextOf(events, change)).done).toBe(false)
    await beside[Symbol.asyncDispose]()
    let ended = false
    while (!ended) ended = (await events.next()).done === true
    expect(ended).toBe(true)
  })
})
