import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

import { createTransport } from 'nodemailer'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { httpCall, jsonCall } from '#bench/http-call.ts'
import { columns } from '#bench/load/load-table.ts'
import { waitUntil } from '#bench/wait-until.ts'
import { SAMPLES } from '#corpus/samples.ts'

import type { Watched, WatchedService } from './corpus/service-watch.ts'

const HOST = 'corpus.test'
const ADDRESS = `info@${HOST}`
const MIB = 1024 * 1024
const QUIET_MS = 3000
const LARGE_BYTES = 15 * MIB
const PARSE_MS = 300_000
const PARSE_POLL_MS = 500
const UNLIMITED = '1000000000'

interface Listed {
  readonly id: string
}

type Reading = {
  readonly origin: string
  readonly host: string
  readonly method: 'GET'
  readonly token: string
}

/**
 * Sends the corpus to a fresh installation and reads what came, then a message of 20 MB, and prints how long the service kept
 * others waiting during it and how much memory it held.
 */
async function main(): Promise<void> {
  const limits = { SMTP_MESSAGES_PER_MINUTE_PER_NETWORK: UNLIMITED }
  await using croft = await startCroft(undefined, limits)
  const { token } = await prepare(croft)
  const { origin, pid, smtpPort } = croft
  const reading = { origin, host: HOST, method: 'GET', token } as const
  const watch = startWatch({ origin, pid })
  const rows = [['while', 'calls', 'p50 ms', 'p99', 'longest', 'RSS MiB']]
  const phase = async (name: string, work: () => Promise<unknown>): Promise<Watched> => {
    await work()
    const watched = await watch.look()
    rows.push([name, ...cellsOf(watched)])
    return watched
  }
  try {
    await watch.look()
    await phase('nothing', () => delay(QUIET_MS))
    const refused: string[] = []
    await phase('the corpus comes', async () => refused.push(...(await sendCorpus(smtpPort))))
    let failed = 0
    await phase('it is parsed', async () => (failed = await parsed(reading)))
    const messages = await list(reading)
    await phase('each is read', async () => {
      for (const { id } of messages) await detail(reading, id)
    })
    await phase('20 MB come', () => sendLarge(smtpPort))
    await phase('they are parsed', () => parsed(reading))
    const [large] = await list(reading)
    const before = await phase('nothing', () => delay(QUIET_MS))
    const id = large?.id ?? ''
    let bytes = 0
    const once = await phase('they are read', async () => (bytes = await readWhole(reading, id)))
    const often = await phase('they are read 5 times', async () => {
      for (let time = 0; time < 5; time++) await readWhole(reading, id)
    })
    const grown = ({ rssBytes }: Watched) => ((rssBytes - before.rssBytes) / MIB).toFixed(1)
    console.log(`${columns(rows)}

${SAMPLES.length} samples: ${refused.length} not taken, ${messages.length} listed and shown, ${failed} of them not parsed`)
    for (const reason of refused) console.log(`  ${reason}`)
    console.log(`reading ${bytes} bytes took ${grown(once)} MiB more, 5 times ${grown(often)}`)
  } finally {
    await watch.stop()
  }
}

async function list(reading: Reading): Promise<readonly Listed[]> {
  const items: Listed[] = []
  for (let next: string | undefined = ''; next !== undefined;) {
    const after: string = next === '' ? '' : `&nextToken=${encodeURIComponent(next)}`
    const path = `/admin/api/messages?limit=100${after}`
    const page: { items: Listed[]; nextToken?: string | null } = await jsonCall({
      ...reading,
      path,
    })
    items.push(...page.items)
    next = page.nextToken ?? undefined
  }
  return items
}

const detail = (reading: Reading, id: string): Promise<{ rawUrl: string; parsing: string }> =>
  jsonCall({ ...reading, path: `/admin/api/messages/${id}` })

/** Resolves when every message was read by the parser, which takes the oldest first. Returns how many it could not read. */
async function parsed(reading: Reading): Promise<number> {
  let failed = 0
  for (const { id } of (await list(reading)).toReversed()) {
    const isParsed = async () => {
      const { parsing } = await detail(reading, id)
      if (parsing === 'pending') await delay(PARSE_POLL_MS)
      if (parsing === 'failed') failed += 1
      return parsing !== 'pending'
    }
    await waitUntil('parsed mail', isParsed, PARSE_MS)
  }
  return failed
}

async function prepare(croft: CroftProcess): Promise<{ token: string }> {
  const user = `ann@${HOST}`
  await croft.command('site', 'create', '--domain', HOST, '--super-admin', user)
  await croft.command('mailbox', 'create', ADDRESS, '--owner', user)
  return croft.command<{ token: string }>('token', '--site', HOST, '--user', user)
}

function startWatch(service: WatchedService) {
  const worker = new Worker(new URL('corpus/service-watch.ts', import.meta.url), {
    workerData: service,
  })
  return {
    look: async (): Promise<Watched> => {
      worker.postMessage('look')
      const [watched] = await once(worker, 'message')
      return watched
    },
    stop: () => worker.terminate(),
  }
}

/** Why those were refused that were, and which are the same as another once their lines end as lines of mail do. */
async function sendCorpus(port: number): Promise<string[]> {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, pool: true })
  const envelope = { from: 'eve@else.test', to: ADDRESS }
  const refused: string[] = []
  for (const { name, build } of SAMPLES) {
    try {
      const { response } = await transport.sendMail({ envelope, raw: build() })
      if (response.includes('before')) refused.push(`${name}: ${response}`)
    } catch (error) {
      refused.push(`${name}: ${String(error)}`)
    }
  }
  transport.close()
  return refused
}

async function sendLarge(port: number): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
  await transport.sendMail({
    from: 'eve@else.test',
    to: ADDRESS,
    subject: 'Large',
    text: 'There is a lot of it.',
    attachments: [{ filename: 'large.bin', content: randomBytes(LARGE_BYTES) }],
  })
}

/** Returns how many bytes the message has. */
async function readWhole(reading: Reading, id: string): Promise<number> {
  const { rawUrl } = await detail(reading, id)
  const { pathname, search } = new URL(rawUrl)
  const { origin, host } = reading
  const answer = await httpCall({ origin, host, method: 'GET', path: pathname + search })
  if (answer.status !== 200) throw new Error(`The raw message answered ${answer.status}`)
  return answer.text.length
}

const cellsOf = ({ calls, p50Ms, p99Ms, longestMs, rssBytes }: Watched): string[] => [
  String(calls),
  p50Ms.toFixed(1),
  p99Ms.toFixed(1),
  longestMs.toFixed(1),
  (rssBytes / MIB).toFixed(0),
]

await main()
