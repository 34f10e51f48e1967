import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { createTransport } from 'nodemailer'

import { startChild } from '#bench/child-process.ts'
import { startCroft } from '#bench/croft/croft-process.ts'
import { median } from '#bench/median.ts'
import { SmtpServer } from '#test/smtp-server.ts'

import { submitMessages } from './submission-sessions.ts'

const ROUNDS = 3
const ROUND_MS = 5000
const WARM_UP_MS = 3000
const DRAIN_MS = 10_000
const SESSIONS = 20
const MESSAGE_BYTES = 4000
const DOMAIN = 'submission.test'
const USER = `ann@${DOMAIN}`
const SENDER = `info@${DOMAIN}`

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Messages a second that nodemailer hands to the server over as many connections as the queue has. */
async function nodemailerRate(port: number): Promise<number> {
  const client = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    pool: true,
    maxConnections: 8,
    maxMessages: Infinity,
  })
  const until = performance.now() + ROUND_MS
  let sent = 0
  const text = 'x'.repeat(MESSAGE_BYTES)
  const workers = Array.from({ length: 8 }, async () => {
    for (; performance.now() < until; sent++) {
      await client.sendMail({ from: SENDER, to: 'vic@d0.test', subject: String(sent), text })
    }
  })
  await Promise.all(workers)
  client.close()
  return sent / (ROUND_MS / 1000)
}

await using gateway = await SmtpServer.start()
await using croft = await startCroft(['bun', script('serve-unlimited.ts')], {
  SMTP_URL: `smtp://127.0.0.1:${gateway.port}`,
})
await croft.command('site', 'create', '--domain', DOMAIN, '--super-admin', USER)
await croft.command('mailbox', 'create', SENDER, '--owner', USER)
const credential = ['mailbox', 'credential', 'create', SENDER] as const
const { password } = await croft.command<{ password: string }>(...credential, '--name', 'bench')
await using plain = startChild('bun', [script('../inbound/plain-smtp-server.ts')])
const plainPort = Number(await plain.line((line) => /^port (\d+)$/.exec(line)?.[1]))
const load = { sender: SENDER, sessions: SESSIONS, messageBytes: MESSAGE_BYTES }
const alone = (durationMs: number) => submitMessages({ ...load, port: plainPort, durationMs })
const ours = (durationMs: number) =>
  submitMessages({ ...load, port: croft.submissionPort, password, durationMs })

await alone(WARM_UP_MS)
let submitted = (await ours(WARM_UP_MS)).sent
const ratios: number[] = []
for (let round = 1; round <= ROUNDS; round++) {
  const bare = await alone(ROUND_MS)
  const taken = await ours(ROUND_MS)
  submitted += taken.sent
  ratios.push(taken.perSecond / bare.perSecond)
  for (const [name, figures] of [
    ['smtp-server with STARTTLS, write and fsync', bare],
    ['croft with STARTTLS and AUTH', taken],
  ] as const) {
    const { perSecond, medianMs, p99Ms } = figures
    console.log(
      `round ${round}: ${name} ${perSecond.toFixed(0)}/s, median ${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
    )
  }
}
console.log(`croft takes ${median(ratios).toFixed(2)} of what smtp-server alone does`)
const before = gateway.messages.length
console.log(`the queue has delivered ${before} of ${submitted} by now`)
const begun = performance.now()
while (gateway.messages.length < submitted && performance.now() - begun < DRAIN_MS) await delay(50)
const handed = gateway.messages.length - before
if (handed > 0) {
  const outgoing = (handed / (performance.now() - begun)) * 1000
  console.log(`with nothing else to do it hands over ${outgoing.toFixed(0)}/s (${handed})`)
}
console.log(`nodemailer's pool alone sends ${(await nodemailerRate(gateway.port)).toFixed(0)}/s`)
