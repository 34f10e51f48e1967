import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { createTransport } from 'nodemailer'

import { startCroft } from '#bench/croft/croft-process.ts'
import { columns } from '#bench/load/load-table.ts'
import { CroftReader } from '#scripts/mail-compare/croft-reader.ts'
import type { ShownMail } from '#scripts/mail-compare/shown-mail.ts'

import {
  LARGE_KINDS,
  LARGE_SIZES,
  type LargeExpectation,
  type LargeKind,
} from './large-kinds/kinds.ts'

const USAGE = `npm run load:large-kinds -- [--only NAME,…] [--without-service]

Parses messages of 10 and 25 MiB of every kind, each in a process of its own, and tells its time and the most memory that the
process held; then sends each to a fresh installation over SMTP, and tells how late its event loop was while it came: of three times the least, if the first was too late. Exits
with 1 if a message is not shown whole, if the process held more than 640 MiB, or the loop was more than 25 ms late.
--only names some of ${LARGE_KINDS.map(({ name }) => `"${name}"`).join(', ')}.`

const MIB = 1024 * 1024
const MAX_MEMORY = 640 * MIB
const MAX_LATE_MS = 25
/** What others on the machine take of the processor is not in all of them. */
const TIMES = 3
const WARM_UP = 5
const WARMING = Buffer.from(`\r\n${'some words\r\n'.repeat(MIB / 3)}`)
const HOST = 'large.test'
const UNLIMITED = '1000000000'
const SERVICE = fileURLToPath(new URL('../../bench/sign-ins/serve-with-lag.ts', import.meta.url))

async function main(names: readonly string[], hasService: boolean): Promise<void> {
  const kinds = LARGE_KINDS.filter(({ name }) => names.length === 0 || names.includes(name))
  if (kinds.length === 0) throw new Error(`No kind is named "${names.join(', ')}"`)
  const rows = [['kind', 'MiB', 'parse ms', 'peak MiB', 'loop late ms']]
  await using used = new AsyncDisposableStack()
  const sender = hasService ? await startSender(used) : undefined
  for (const kind of kinds) {
    for (const size of LARGE_SIZES) rows.push(await rowOf(kind, size, sender))
  }
  console.log(columns(rows))
}

async function rowOf(
  { name, make, expected }: LargeKind,
  size: number,
  sender: Awaited<ReturnType<typeof startSender>> | undefined,
): Promise<string[]> {
  const raw = make(size)
  const { fault, ...figures } = await parsed(raw, expected(size))
  const lateMs = await sender?.send(raw)
  if (fault !== undefined || isTooMuch({ ...figures, lateMs })) process.exitCode = 1
  return [
    `${name}${fault === undefined ? '' : ` (${fault})`}`,
    (raw.length / MIB).toFixed(1),
    figures.tookMs.toFixed(0),
    (figures.peakBytes / MIB).toFixed(0),
    lateMs?.toFixed(1) ?? '-',
  ]
}

interface Figures {
  readonly peakBytes: number
  readonly lateMs: number | undefined
}

const isTooMuch = ({ peakBytes, lateMs = 0 }: Figures): boolean =>
  peakBytes > MAX_MEMORY || lateMs > MAX_LATE_MS

async function parsed(raw: Buffer, expected: LargeExpectation) {
  await using croft = new CroftReader()
  await croft.read(Buffer.from('Subject: first\r\n\r\nwords'))
  const begun = performance.now()
  const shown = await croft.read(raw)
  const tookMs = performance.now() - begun
  return { tookMs, fault: faultOf(expected, shown), peakBytes: await croft.peakBytes() }
}

/** Why it is not whole, or undefined. */
function faultOf(
  { attachmentBytes, textStart }: LargeExpectation,
  shown: ShownMail,
): string | undefined {
  if (shown.failed !== undefined) return shown.failed
  if (textStart !== undefined && !shown.text.startsWith(textStart)) return 'another text'
  const [file] = shown.attachments
  if (attachmentBytes !== undefined && file?.sizeBytes !== attachmentBytes) {
    return `${file?.sizeBytes} bytes attached`
  }
  return undefined
}

/** Whatever the result, the service ends with its users. */
async function startSender(used: AsyncDisposableStack) {
  const settings = {
    SMTP_MESSAGES_PER_MINUTE_PER_NETWORK: UNLIMITED,
    SMTP_MESSAGES_PER_MINUTE_PER_SITE: UNLIMITED,
    SMTP_MAX_MESSAGE_BYTES: UNLIMITED,
  }
  const croft = used.use(await startCroft(['bun', SERVICE], settings))
  const owner = `ann@${HOST}`
  await croft.command('site', 'create', '--domain', HOST, '--super-admin', owner)
  await croft.command('mailbox', 'create', `info@${HOST}`, '--owner', owner)
  const late = async (): Promise<number> => Number(await croft.ask('lag', /^lag ([\d.]+)$/))
  const transport = createTransport({ host: '127.0.0.1', port: croft.smtpPort, ignoreTLS: true })
  let sent = 0
  const sendOnce = async (raw: Buffer): Promise<number> => {
    await late()
    const envelope = { from: 'eve@else.test', to: `info@${HOST}` }
    // The same bytes again would be the same message.
    const named = Buffer.concat([Buffer.from(`X-Sent: ${(sent += 1)}\r\n`), raw])
    await transport.sendMail({ envelope, raw: named })
    return late()
  }
  const send = async (raw: Buffer): Promise<number> => {
    let least = Infinity
    for (let time = 0; time < TIMES && least > MAX_LATE_MS; time += 1) {
      least = Math.min(least, await sendOnce(raw))
    }
    return least
  }
  for (let time = 0; time < WARM_UP; time += 1) await sendOnce(WARMING)
  return { send }
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    'without-service': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else {
  const names = values.only.split(',').filter((name) => name !== '')
  await main(names, !values['without-service'])
}
