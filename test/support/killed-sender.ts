import { setTimeout as delay } from 'node:timers/promises'

import { expect } from 'vitest'

import type { Answer } from './http-client.ts'

const SENDERS = 4
const RETRY_MS = 50

/** Calls the admin API of the site that sends; `key` is the idempotency key. */
export type SenderCall = (
  method: string,
  path: string,
  body?: unknown,
  key?: string,
) => Promise<Answer>

/** Makes the mailboxes that a test names. */
export async function makeOwnMailboxes(
  call: SenderCall,
  addresses: readonly string[],
): Promise<void> {
  const { json } = await call('GET', '/profile')
  for (const address of addresses) {
    const made = await call('POST', '/mailboxes', { address, owners: [json.userSub] })
    expect(made.status).toBe(200)
  }
}

/** Sends numbered messages, each until it is accepted, and calls `kill` so often in between. */
export async function sendWhileKilled(
  call: SenderCall,
  of: {
    readonly messages: number
    readonly kills: number
    readonly mailboxes: readonly string[]
    readonly recipientOf: (index: number) => string
    readonly kill: () => Promise<void>
  },
): Promise<void> {
  const { messages, kills, mailboxes, recipientOf, kill } = of
  let accepted = 0
  const send = async (index: number): Promise<void> => {
    const body = {
      mailbox: mailboxes[index % mailboxes.length],
      to: [recipientOf(index)],
      subject: `Number ${index}`,
      body: 'Text',
    }
    for (;;) {
      const answer = await call('POST', '/messages/send', body, `n${index}`).catch(() => undefined)
      if (answer?.status === 200) break
      if (answer !== undefined && answer.status < 429) throw new Error(answer.text)
      await delay(RETRY_MS)
    }
    accepted += 1
  }
  const sending = Promise.all(
    Array.from({ length: SENDERS }, async (_, sender) => {
      for (let index = sender; index < messages; index += SENDERS) await send(index)
    }),
  )
  for (let round = 1; round <= kills; round += 1) {
    const at = Math.floor((round * messages) / (kills + 1))
    while (accepted < at) await delay(1)
    await kill()
  }
  await sending
}
