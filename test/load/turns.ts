import { parseArgs } from 'node:util'

import { createTransport } from 'nodemailer'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { columns } from '#bench/load/load-table.ts'
import { quantile } from '#bench/median.ts'
import { waitUntil } from '#bench/wait-until.ts'

import { SlowGateway } from './turns/slow-gateway.ts'

const USAGE = `npm run load:turns -- [--program FILE] [--singles N] [--only NAME,…]

Measures what a job of a quiet site takes, alone and while another site floods the queue that they share: p50, p99, and the
ratio of the p99. --only names some of newsletter, slow-domains, syncs, parsing. --program names the bin/croft.js of another
checkout. Exit code 1 when a p99 is more than twice that of the time alone.`

const [FLOOD, QUIET] = ['flood.test', 'quiet.test']
/** Each may send to 120 recipients a minute, their site to 600. */
const MAILBOXES = 5
const PER_MAILBOX = 120
const PER_MESSAGE = 60
/** What the gateway takes to answer the end of a message, and RCPT for a domain that is slow. */
const GATEWAY_MS = 50
const SLOW_RCPT_MS = 20_000
const SLOW_DOMAINS = 8
const CHANGES = 300
const INBOUND = 1500
const MAX_RATIO = 2

interface Installation {
  readonly croft: CroftProcess
  readonly gateway: SlowGateway
  /** Calls `/portal/api/sites/…`. */
  readonly call: <Answer>(method: string, path: string, body?: unknown) => Promise<Answer>
}

interface Case {
  readonly name: string
  /** Resolves when the flood waits in its queue; what it resolves with ends it. */
  readonly flood: (installation: Installation) => Promise<() => Promise<unknown>>
  /** Resolves when the job of the quiet site is done. */
  readonly single: (installation: Installation, at: number) => Promise<void>
}

const deliver = async ({ call, gateway }: Installation, at: number): Promise<void> => {
  const subject = `single ${at} ${performance.now()}`
  const { promise, resolve } = Promise.withResolvers<void>()
  gateway.taken = (text) => (text.includes(subject) ? resolve() : undefined)
  await send(call, { mailbox: `info@${QUIET}`, to: [`ann@quiet-${at}.example`], subject })
  await promise
}

const CASES: readonly Case[] = [
  {
    name: 'newsletter',
    async flood({ call }) {
      for (let box = 0; box < MAILBOXES; box += 1) {
        for (let from = 0; from < PER_MAILBOX; from += PER_MESSAGE) {
          const to = Array.from(
            { length: PER_MESSAGE },
            (_, at) => `p@d${box}-${from + at}.example`,
          )
          await send(call, { mailbox: `box${box}@${FLOOD}`, to, subject: 'news' })
        }
      }
      return async () => {}
    },
    single: deliver,
  },
  {
    name: 'slow-domains',
    async flood({ call }) {
      for (let round = 0; round < 4; round += 1) {
        const to = Array.from({ length: SLOW_DOMAINS }, (_, at) => `p${round}@slow-${at}.example`)
        await send(call, { mailbox: `box0@${FLOOD}`, to, subject: 'slow' })
      }
      // They are known for what they are, and hold what they may.
      await new Promise((resolve) => setTimeout(resolve, 5000))
      return async () => {}
    },
    single: deliver,
  },
  {
    name: 'syncs',
    async flood({ call }) {
      let isOver = false
      const change = async (): Promise<void> => {
        for (let at = 0; at < CHANGES && !isOver; at += 1) await setVariable(call, FLOOD, at)
      }
      const changing = Promise.all([change(), change(), change(), change()])
      return () => {
        isOver = true
        return changing
      }
    },
    async single({ call }, at) {
      await setVariable(call, QUIET, at)
      await waitUntil('sync', async () => {
        const path = `/${QUIET}/runtime`
        const { permissionsSync } = await call<{ permissionsSync: { status: string } }>('GET', path)
        return permissionsSync.status === 'succeeded'
      })
    },
  },
  {
    name: 'parsing',
    async flood({ croft }) {
      await receive(croft, FLOOD, INBOUND)
      return async () => {}
    },
    async single({ croft, call }, at) {
      const subject = `inbound ${at} ${performance.now()}`
      await receive(croft, QUIET, 1, subject)
      await waitUntil('message', async () => {
        const { items } = await call<{ items: readonly { id: string; subject: string }[] }>(
          'GET',
          `/${QUIET}/messages?limit=5`,
        )
        const item = items.find((each) => each.subject === subject)
        if (!item) return false
        const { parsing } = await call<{ parsing: string }>('GET', `/${QUIET}/messages/${item.id}`)
        return parsing !== 'pending'
      })
    },
  },
]

async function receive(
  { smtpPort }: CroftProcess,
  domain: string,
  count: number,
  subject = 'flood',
): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    pool: true,
    ignoreTLS: true,
  })
  const html = '<p>Some words, <b>as people write them</b>.</p>'.repeat(400)
  const message = { from: 'a@b.test', to: `info@${domain}`, subject, html }
  await Promise.all(Array.from({ length: count }, () => transport.sendMail(message)))
  transport.close()
}

type Call = Installation['call']

interface Letter {
  /** Its address, which has the site's domain. */
  readonly mailbox: string
  readonly to: readonly string[]
  readonly subject: string
}

const send = (call: Call, letter: Letter) =>
  call('POST', `/${letter.mailbox.split('@')[1] ?? ''}/messages/send`, {
    ...letter,
    body: 'Words.',
  })

const setVariable = (call: Call, site: string, at: number) =>
  call('PUT', `/${site}/env-vars`, { variables: { AT: { value: String(at) } } })

async function start(program: string | undefined, gateway: SlowGateway): Promise<CroftProcess> {
  const command = program === undefined ? undefined : [process.execPath, program, 'serve']
  const UNLIMITED = '1000000000'
  return startCroft(command, {
    SMTP_URL: gateway.url,
    SMTP_MESSAGES_PER_MINUTE_PER_NETWORK: UNLIMITED,
    SMTP_MESSAGES_PER_MINUTE_PER_SITE: UNLIMITED,
  })
}

/** A fresh installation for each: what one flood leaves is none of the next one's. */
async function measure(
  { flood, single }: Case,
  { program, singles }: { readonly program: string | undefined; readonly singles: number },
): Promise<{ readonly alone: number[]; readonly beside: number[] }> {
  await using gateway = await SlowGateway.start({
    messageMs: GATEWAY_MS,
    recipientMs: (line) => (line.includes('@slow-') ? SLOW_RCPT_MS : 0),
  })
  await using croft = await start(program, gateway)
  for (const domain of [FLOOD, QUIET]) {
    const owner = `ann@${domain}`
    await croft.command('site', 'create', '--domain', domain, '--super-admin', owner)
    const boxes = Array.from({ length: MAILBOXES }, (_, at) => `box${at}`)
    for (const box of ['info', ...boxes]) {
      await croft.command('mailbox', 'create', `${box}@${domain}`, '--owner', owner)
    }
  }
  const call: Call = (method, path, body) => portal(croft, { method, path, body })
  const installation = { croft, gateway, call }
  const times = async (): Promise<number[]> => {
    const took: number[] = []
    for (let at = 0; at < singles; at += 1) {
      const begun = performance.now()
      await single(installation, at)
      took.push(performance.now() - begun)
    }
    return took
  }
  await single(installation, -1)
  const alone = await times()
  const end = await flood(installation)
  const beside = await times()
  await end()
  return { alone, beside }
}

async function portal<Answer>(
  { origin, operatorKey }: CroftProcess,
  {
    method,
    path,
    body,
  }: { readonly method: string; readonly path: string; readonly body: unknown },
): Promise<Answer> {
  const url = new URL(`/portal/api/sites${path}`, origin.replace('127.0.0.1', 'localhost'))
  const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(url, { method, headers, ...sent })
  const text = await response.text()
  if (response.ok) return JSON.parse(text)
  throw new Error(`${method} ${url.pathname} answered ${response.status}: ${text}`)
}

async function main(options: {
  readonly program: string | undefined
  readonly singles: number
  readonly only: string | undefined
}): Promise<void> {
  const names = options.only?.split(',')
  const rows = [['queue', 'p50 alone', 'p99', 'p50 beside', 'p99', 'ratio']]
  for (const each of CASES.filter(({ name }) => names?.includes(name) ?? true)) {
    const { alone, beside } = await measure(each, options)
    const ratio = quantile(beside, 0.99) / quantile(alone, 0.99)
    if (ratio > MAX_RATIO) process.exitCode = 1
    const ms = [alone, beside].flatMap((took) => [quantile(took, 0.5), quantile(took, 0.99)])
    rows.push([each.name, ...ms.map((each) => each.toFixed(0)), ratio.toFixed(2)])
    console.log(rows.at(-1)?.join('  '))
  }
  console.log(columns(rows))
}

const { values } = parseArgs({
  options: {
    program: { type: 'string' },
    singles: { type: 'string', default: '20' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else
  await main({
    ...values,
    program: values.program,
    only: values.only,
    singles: Number(values.singles),
  })
