import { once } from 'node:events'
import { connect } from 'node:net'
import { parseArgs } from 'node:util'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { jsonCall } from '#bench/http-call.ts'
import { median } from '#bench/median.ts'
import { waitUntil } from '#bench/wait-until.ts'

const USAGE = `node test/load/large-mail.ts [--rounds N] [--line TEXT]

Measures how long a small message to one site takes until the API shows its text: alone, and while another site receives
text/plain of 25 MiB, in turns. Exits with 1 if the median beside large messages is more than twice that of its own.`

const LARGE_SITE = 'large.test'
const SMALL_SITE = 'small.test'
const LARGE_BYTES = 25 * 1024 * 1024 - 4096
const MAX_RATIO = 2
const PAUSE_MS = 1000
const UNLIMITED = '1000000000'

async function main(rounds: number, line: string): Promise<void> {
  await using croft = await startCroft(undefined, {
    SMTP_MESSAGES_PER_MINUTE_PER_NETWORK: UNLIMITED,
    SMTP_MESSAGES_PER_MINUTE_PER_SITE: UNLIMITED,
    SMTP_MAX_MESSAGE_BYTES: String(LARGE_BYTES + 4096),
  })
  for (const domain of [LARGE_SITE, SMALL_SITE]) {
    const owner = `ann@${domain}`
    await croft.command('site', 'create', '--domain', domain, '--super-admin', owner)
    await croft.command('mailbox', 'create', `info@${domain}`, '--owner', owner)
  }
  await timeUntilShown(croft, 'warm-up')
  const idle: number[] = []
  const beside: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    idle.push(await timeUntilShown(croft, `idle-${round}`))
    await send(
      croft,
      LARGE_SITE,
      message(
        `large-${round}`,
        line.repeat(Math.ceil(LARGE_BYTES / line.length)).slice(0, LARGE_BYTES),
      ),
    )
    const begun = performance.now()
    const large = shown(croft, LARGE_SITE, `large-${round}`)
    let isShown = false
    const showing = large.then(() => (isShown = true))
    // One at least: where the large message is shown at once, right behind it.
    for (let at = 1; at === 1 || !isShown; at += 1) {
      beside.push(await timeUntilShown(croft, `beside-${round}-${at}`))
    }
    await showing
    const { parsing, truncated } = await large
    const took = performance.now() - begun
    console.log(
      `round ${round}: large message ${parsing}, truncated ${truncated}, ${took.toFixed(0)} ms later`,
    )
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  const ratio = median(beside) / median(idle)
  const list = (times: readonly number[]) => times.map((ms) => ms.toFixed(0)).join(', ')
  console.log(
    `alone: median ${median(idle).toFixed(0)} ms, longest ${Math.max(...idle).toFixed(0)} ms (${list(idle)})`,
  )
  console.log(
    `beside large messages: median ${median(beside).toFixed(0)} ms, longest ${Math.max(...beside).toFixed(0)} ms (${list(beside)})`,
  )
  console.log(`ratio of the medians ${ratio.toFixed(2)}; at most ${MAX_RATIO}`)
  if (ratio > MAX_RATIO) process.exitCode = 1
}

const message = (subject: string, body: string): string =>
  `From: bench@a.test\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@a.test>\r\nContent-Type: text/plain\r\n\r\n${body}\r\n`

async function timeUntilShown(croft: CroftProcess, subject: string): Promise<number> {
  const begun = performance.now()
  await send(croft, SMALL_SITE, message(subject, 'Some words.\r\n'))
  await shown(croft, SMALL_SITE, subject)
  return performance.now() - begun
}

interface Shown {
  readonly parsing: string
  readonly truncated: boolean
}

async function shown(croft: CroftProcess, domain: string, subject: string): Promise<Shown> {
  let found: Shown | undefined
  await waitUntil(`shown ${subject}`, async () => {
    const { items } = await ask<{ items: readonly { id: string; subject: string }[] }>(
      croft,
      `/portal/api/sites/${domain}/messages`,
    )
    const item = items.find((each) => each.subject === subject)
    if (!item) return false
    found = await ask<Shown>(croft, `/portal/api/sites/${domain}/messages/${item.id}`)
    return found.parsing !== 'pending'
  })
  if (!found) throw new Error(`"${subject}" is not shown`)
  return found
}

const ask = <Answer>({ origin, operatorKey: token }: CroftProcess, path: string): Promise<Answer> =>
  jsonCall<Answer>({ origin, host: 'localhost', method: 'GET', path, token })

async function send({ smtpPort }: CroftProcess, domain: string, text: string): Promise<void> {
  const socket = connect({ port: smtpPort, host: '127.0.0.1', noDelay: true })
  const replies = repliesOf(socket.setEncoding('latin1'))
  const say = async (line: string | undefined, expected: string): Promise<void> => {
    if (line !== undefined && !socket.write(`${line}\r\n`)) await once(socket, 'drain')
    const { value } = await replies.next()
    if (!value?.startsWith(expected)) throw new Error(`Expected ${expected}: ${value}`)
  }
  await say(undefined, '220')
  await say('EHLO bench.test', '250')
  await say('MAIL FROM:<bench@a.test>', '250')
  await say(`RCPT TO:<info@${domain}>`, '250')
  await say('DATA', '354')
  await say(`${text}.`, '250')
  await say('QUIT', '221')
  socket.destroy()
}

async function* repliesOf(socket: AsyncIterable<string>): AsyncGenerator<string> {
  let said = ''
  for await (const text of socket) {
    said += text
    if (!/^\d{3} .*\r\n$/m.test(said)) continue
    yield said
    said = ''
  }
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    line: {
      type: 'string',
      default: 'Some words of plain text as people and programs write them, line by line.',
    },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else await main(Number(values.rounds), `${values.line}\r\n`)
