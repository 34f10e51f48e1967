import { setTimeout as delay } from 'node:timers/promises'

import { RawSmtp } from './inbound-mail.ts'

const PAUSE_MS = 50
/** Much longer than a service takes to start again. */
const PATIENCE_MS = 900_000

export interface Envelope {
  readonly recipients: readonly string[]
  readonly message: string
}

/**
 * Sends messages one after the other as a mail server does: over one connection while it lasts, and each again until the reply is
 * 250. Calls `acknowledged` for each; resolves when all are.
 */
export async function sendAll(
  port: number,
  envelopes: readonly Envelope[],
  acknowledged: (envelope: Envelope) => void,
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  let client: RawSmtp | undefined
  for (const envelope of envelopes) {
    for (;;) {
      client ??= await greeted(port)
      const reply = await replyOf(client, envelope)
      if (reply.startsWith('250 2.6.0')) break
      if (reply.startsWith('5')) throw new Error(reply)
      if (performance.now() > deadline) throw new Error(`Not taken in time: ${reply}`)
      client?.socket.destroy()
      client = undefined
      await delay(PAUSE_MS)
    }
    acknowledged(envelope)
  }
  client?.socket.destroy()
}

/** Empty when there is none. */
const replyOf = async (
  client: RawSmtp | undefined,
  { recipients, message }: Envelope,
): Promise<string> => (await client?.message('a@a.test', recipients, message)) ?? ''

const greeted = (port: number): Promise<RawSmtp | undefined> =>
  RawSmtp.greeted(port).catch(() => undefined)
