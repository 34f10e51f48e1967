import { createHash } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { columns } from '#bench/load/load-table.ts'
import { CroftProcess, freePort } from '#test/croft-process.ts'
import { request } from '#test/http-client.ts'
import { RawSmtp } from '#test/inbound-mail.ts'
import { portalOf } from '#test/operator.ts'

import { storedMessage } from './reparse/messages.ts'
import { NEIGHBOUR, neighbourRound, type Round } from './reparse/neighbour.ts'
import { type Portal, portalAt } from './reparse/portal.ts'

const USAGE = `npm run load:reparse -- --old FOLDER [--messages N] [--rate N] [--seconds N]

Fills a data folder with 10,000 messages in 20 mailboxes of one site by the build in FOLDER, a checkout of an earlier version with its
packages, and starts this build on it. While the messages are parsed again another site is called 50 times a second and gets mail.
Compares its times before, during and after, and 300 messages before and after. Without --old this build fills the folder, and
parses all of it again. Exit code 1 when a call fails, an id or the bytes of an attachment differ, or the p99 of calls is more than
twice, and that of deliveries more than three times, the lower of those before and after.`

const ROOT = join(import.meta.dirname, '../..')
const SITE = 'busy.test'
const MAILBOXES = 20
const SENDERS = 8
/** The service takes a thousand at most. */
const PER_CONNECTION = 500
const COMPARED = 300
const CALM_ROUNDS = 3
const MAX_RATIO = { calls: 2, deliveries: 3 }
const UNLIMITED = '1000000000'
const OPERATOR_KEY = 'load-reparse-operator-key-0123456789'

interface Options {
  readonly old: string
  readonly messages: number
  readonly rate: number
  readonly seconds: number
}

interface Progress {
  readonly messages: number
  readonly left: number
  readonly failed: number
}

async function main({ old, messages, rate, seconds }: Options): Promise<boolean> {
  await using cleanUp = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'croft-reparse-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
  // As root the database runs as another user, which needs access.
  await chmod(folder, 0o755)
  const [port, smtpPort] = [await freePort(), await freePort()]
  const env = {
    SMTP_PORT: String(smtpPort),
    SMTP_MESSAGES_PER_MINUTE_PER_NETWORK: UNLIMITED,
    SMTP_MESSAGES_PER_MINUTE_PER_SITE: UNLIMITED,
    CROFT_OPERATOR_KEY: OPERATOR_KEY,
    CROFT_LOG_LEVEL: 'warn',
  }
  const start = (root: string) =>
    CroftProcess.start({ root, dataDir: join(folder, 'data'), port, env })
  const portal = portalAt(port, OPERATOR_KEY)
  const round = (croft: CroftProcess) => neighbourRound(croft, portal, { smtpPort, rate, seconds })
  const earlier = cleanUp.use(await start(old))
  await makeSites(earlier, portal)
  await fill(portal, { smtpPort, messages })
  const seenBefore = await compared(port, portal)
  const before = await calmRounds(() => round(earlier))
  await earlier.stop()

  const croft = cleanUp.use(await start(ROOT))
  if (old === ROOT) await portal.post(`/sites/${SITE}/mail-reparse`, { again: true })
  const begunMs = performance.now()
  const during: Round[] = []
  const progress = () => portal.get<Progress>(`/sites/${SITE}/mail-reparse`)
  for (let now = await progress(); now.left > 0; now = await progress()) {
    during.push(await round(croft))
    const elapsed = ((performance.now() - begunMs) / 1000).toFixed(0)
    console.error(`${elapsed} s: ${now.left} left before this round; ${lineOf(during.at(-1))}`)
  }
  const tookSeconds = (performance.now() - begunMs) / 1000
  console.error(`done in ${tookSeconds.toFixed(0)} s: ${JSON.stringify(await progress())}`)
  const after = await calmRounds(() => round(croft))
  const differences = differing(seenBefore, await compared(port, portal))
  console.log(`${messages} messages in ${tookSeconds.toFixed(0)} s`)
  console.log(`${seenBefore.size} messages compared, ${differences.length} differ`)
  for (const difference of differences.slice(0, 5)) console.log(difference)
  const isFine = report({ before, during, after })
  await croft.stop()
  return isFine && differences.length === 0
}

async function calmRounds(round: () => Promise<Round>): Promise<readonly Round[]> {
  const rounds: Round[] = []
  for (let at = 0; at < CALM_ROUNDS; at += 1) rounds.push(await round())
  return rounds
}

async function makeSites(croft: CroftProcess, portal: Portal): Promise<void> {
  const operator = portalOf(croft, OPERATOR_KEY)
  for (const domain of [SITE, NEIGHBOUR]) await operator.createSite(domain)
  await operator.createOperation(NEIGHBOUR, 'add', 'export default ({ payload }) => payload + 1')
  const addresses = [`info@${NEIGHBOUR}`, ...boxes()]
  for (const address of addresses) {
    const domain = address.split('@')[1] ?? ''
    await portal.post(`/sites/${domain}/mailboxes`, { address, owners: [`ann@${domain}`] })
  }
}

const boxes = () => Array.from({ length: MAILBOXES }, (_, at) => `box${at}@${SITE}`)

/** Sends all messages, and waits until the last ones are parsed: the oldest go first. */
async function fill(
  portal: Portal,
  { smtpPort, messages }: { readonly smtpPort: number; readonly messages: number },
): Promise<void> {
  const addresses = boxes()
  let next = 0
  const send = async () => {
    const client = await RawSmtp.greeted(smtpPort)
    for (let sent = 0; sent < PER_CONNECTION && next < messages; sent += 1) {
      const number = next++
      const to = addresses[number % MAILBOXES] ?? ''
      const reply = await client.message('bench@a.test', [to], storedMessage(number))
      if (reply.startsWith('250')) continue
      throw new Error(reply)
    }
    client.socket.destroy()
  }
  while (next < messages) await Promise.all(Array.from({ length: SENDERS }, send))
  for (const address of addresses) {
    for (;;) {
      const { items } = await portal.get<{ items: { id: string }[] }>(
        `/sites/${SITE}/messages?mailbox=${address}&limit=1`,
      )
      const detail = await portal.get<{ parsing: string }>(
        `/sites/${SITE}/messages/${items[0]?.id}`,
      )
      if (detail.parsing !== 'pending') break
      await new Promise((done) => setTimeout(done, 200))
    }
  }
}

/** What must not change of some messages, by their ids. */
async function compared(port: number, portal: Portal): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const address of boxes()) {
    const { items } = await portal.get<{ items: { id: string }[] }>(
      `/sites/${SITE}/messages?mailbox=${address}&limit=${Math.ceil(COMPARED / MAILBOXES)}`,
    )
    for (const { id } of items) found.set(id, await keptOf(port, portal, id))
  }
  return found
}

interface Detail {
  readonly threadId: string
  readonly receivedAt: string
  readonly folder: string
  readonly seen: boolean
  readonly rawUrl: string
  readonly attachments: readonly { attachmentId: string; url: string }[]
}

async function keptOf(port: number, portal: Portal, id: string): Promise<string> {
  const detail = await portal.get<Detail>(`/sites/${SITE}/messages/${id}`)
  const { threadId, receivedAt, folder, seen } = detail
  const raw = await digestAt(port, detail.rawUrl)
  const files = await Promise.all(
    detail.attachments.map(async ({ attachmentId, url }) => [
      attachmentId,
      await digestAt(port, url),
    ]),
  )
  return JSON.stringify({ threadId, receivedAt, folder, seen, raw, files })
}

async function digestAt(port: number, url: string): Promise<string> {
  const { hostname: host, pathname, search } = new URL(url)
  const { status, bytes } = await request({ port, host, path: pathname + search })
  return `${status} ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`
}

const differing = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) =>
  [...before].flatMap(([id, kept]) =>
    after.get(id) === kept ? [] : [`${id}\n  ${kept}\n  ${after.get(id)}`],
  )

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0

const failuresOf = ({ calls }: Round): number =>
  Object.values(calls.errors).reduce((sum, count) => sum + count, 0)

const highest = (rounds: readonly Round[], of: (round: Round) => number): number =>
  Math.max(0, ...rounds.map(of))

function lineOf(round: Round | undefined): string {
  if (round === undefined) return ''
  const { calls, shownMs, serviceMib } = round
  return `calls p99 ${calls.latencyMs.p99.toFixed(1)} ms, shown p99 ${percentile(shownMs, 0.99).toFixed(0)} ms, service ${serviceMib.toFixed(0)} MiB`
}

const HEAD = ['', 'calls', 'failed', 'p50 ms', 'p99', 'max', '250 p50', 'p99', 'shown p50', 'p99']

function report(of: Readonly<Record<'before' | 'during' | 'after', readonly Round[]>>): boolean {
  const { before, during, after } = of
  const rows = Object.entries(of).map(([name, rounds]) => rowOf(name, rounds))
  console.log(columns([[...HEAD, 'service MiB', 'parsers'], ...rows]))
  const calls = callsP99(during) / Math.min(callsP99(before), callsP99(after))
  const deliveries = shown(during, 0.99) / Math.min(shown(before, 0.99), shown(after, 0.99))
  console.log(
    `p99 during is ${calls.toFixed(2)} of the lower one before and after for calls, ${deliveries.toFixed(2)} for deliveries`,
  )
  const failed = [...before, ...during, ...after].some((round) => failuresOf(round) > 0)
  return !failed && calls <= MAX_RATIO.calls && deliveries <= MAX_RATIO.deliveries
}

/** Of the p99 of rounds the one in the middle. */
const callsP99 = (rounds: readonly Round[]): number =>
  percentile(
    rounds.map(({ calls }) => calls.latencyMs.p99),
    0.5,
  )

const shown = (rounds: readonly Round[], share: number): number =>
  percentile(
    rounds.flatMap(({ shownMs }) => shownMs),
    share,
  )

function rowOf(name: string, rounds: readonly Round[]): string[] {
  const acknowledged = rounds.flatMap(({ acknowledgedMs }) => acknowledgedMs)
  const medians = rounds.map(({ calls }) => calls.latencyMs.p50)
  return [
    name,
    String(rounds.reduce((sum, round) => sum + round.calls.succeeded, 0)),
    String(rounds.reduce((sum, round) => sum + failuresOf(round), 0)),
    percentile(medians, 0.5).toFixed(1),
    callsP99(rounds).toFixed(1),
    highest(rounds, ({ calls }) => calls.latencyMs.max).toFixed(0),
    percentile(acknowledged, 0.5).toFixed(0),
    percentile(acknowledged, 0.99).toFixed(0),
    shown(rounds, 0.5).toFixed(0),
    shown(rounds, 0.99).toFixed(0),
    highest(rounds, ({ serviceMib }) => serviceMib).toFixed(0),
    highest(rounds, ({ parsersMib }) => parsersMib).toFixed(0),
  ]
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    old: { type: 'string', default: ROOT },
    messages: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '20' },
  },
})
if (values.help) console.log(USAGE)
else {
  const [messages, rate, seconds] = [values.messages, values.rate, values.seconds].map(Number)
  const options = { messages: messages ?? 0, rate: rate ?? 0, seconds: seconds ?? 0 }
  process.exitCode = (await main({ old: resolve(values.old), ...options })) ? 0 : 1
}
