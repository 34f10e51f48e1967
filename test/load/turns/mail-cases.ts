import { setTimeout as pause } from 'node:timers/promises'

import { createTransport } from 'nodemailer'

import { waitUntil } from '#bench/wait-until.ts'

import { type Case, FLOOD, type Installation, QUIET, repeated } from './installation.ts'

/** Each may send to 120 recipients a minute, their site to 600. */
export const MAILBOXES = 5
const PER_MAILBOX = 120
const PER_MESSAGE = 60
const SLOW_DOMAINS = 8
const INBOUND = 1500
/** Connections over which mail keeps arriving. */
const SENDERS = 20

export const MAIL_CASES: readonly Case[] = [
  {
    name: 'newsletter',
    async flood(installation) {
      for (let box = 0; box < MAILBOXES; box += 1) {
        for (let from = 0; from < PER_MAILBOX; from += PER_MESSAGE) {
          const to = Array.from(
            { length: PER_MESSAGE },
            (_, at) => `p@d${box}-${from + at}.example`,
          )
          await send(installation, { mailbox: `box${box}@${FLOOD}`, to, subject: 'news' })
        }
      }
      return async () => {}
    },
    single: deliver,
  },
  {
    name: 'slow-domains',
    async flood(installation) {
      for (let round = 0; round < 4; round += 1) {
        const to = Array.from({ length: SLOW_DOMAINS }, (_, at) => `p${round}@slow-${at}.example`)
        await send(installation, { mailbox: `box0@${FLOOD}`, to, subject: 'slow' })
      }
      // They are known for what they are, and hold what they may.
      await pause(5000)
      return async () => {}
    },
    single: deliver,
  },
  {
    name: 'parsing',
    async flood(installation) {
      await receive(installation, FLOOD, { count: INBOUND })
      return async () => {}
    },
    single: receiveParsed,
  },
  {
    name: 'arriving',
    async flood(installation) {
      const end = repeated(SENDERS, () => receive(installation, FLOOD))
      await pause(3000)
      return end
    },
    single: receiveParsed,
  },
]

async function deliver(installation: Installation, at: number): Promise<void> {
  const subject = `single ${at}`
  const { promise, resolve } = Promise.withResolvers<void>()
  installation.gateway.taken = (text) => (text.includes(`${subject}.`) ? resolve() : undefined)
  const to = [`ann@quiet-${at}.example`]
  await send(installation, { mailbox: `info@${QUIET}`, to, subject: `${subject}.` })
  await promise
}

/** Until it is shown as it was parsed. */
async function receiveParsed(installation: Installation, at: number): Promise<void> {
  const subject = `inbound ${at}`
  await receive(installation, QUIET, { subject })
  await waitUntil('message', async () => {
    const { items } = await installation.call<{
      items: readonly { id: string; subject: string }[]
    }>('GET', `/${QUIET}/messages?limit=5`)
    const item = items.find((each) => each.subject === subject)
    if (!item) return false
    const path = `/${QUIET}/messages/${item.id}`
    const { parsing } = await installation.call<{ parsing: string }>('GET', path)
    return parsing !== 'pending'
  })
}

export async function receive(
  { croft }: Installation,
  domain: string,
  { count = 1, subject = 'flood' }: { readonly count?: number; readonly subject?: string } = {},
): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: croft.smtpPort,
    pool: true,
    ignoreTLS: true,
  })
  const html = '<p>Some words, <b>as people write them</b>.</p>'.repeat(400)
  const message = { from: 'a@b.test', to: `info@${domain}`, subject, html }
  await Promise.all(Array.from({ length: count }, () => transport.sendMail(message)))
  transport.close()
}

interface Letter {
  /** Its address, which has the site's domain. */
  readonly mailbox: string
  readonly to: readonly string[]
  readonly subject: string
}

const send = (installation: Installation, letter: Letter) =>
  installation.call('POST', `/${letter.mailbox.split('@')[1] ?? ''}/messages/send`, {
    ...letter,
    body: 'Words.',
  })
