import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { startCroft } from '#bench/croft/croft-process.ts'
import { waitUntil } from '#bench/wait-until.ts'

import { publish } from './streams/published-function.ts'
import { answerShort, measureVictims, type Victims } from './streams/victims.ts'
import { WaitingClients } from './streams/waiting-clients.ts'

const USAGE = `node test/load/places.ts [--program CROFT] [--seconds N] [--clients N] [--idle N,N]

Fills a site with clients that make their calls wait: event streams, readers that do not read, uploads that stop after one
byte, handlers that never answer, and clients of those that have left. Beside each kind it calls a short operation of the
same site and one of another site. Then opens so many idle event streams from many addresses, and prints what one takes.
Exits with 1 if a short call fails.`

const WAITING = 'waiting.test'
const INNOCENT = 'innocent.test'

const events = `export default { fetch: () => new Response(new ReadableStream({
  start: (controller) => controller.enqueue(new TextEncoder().encode(': hello\\n\\n')),
}), { headers: { 'content-type': 'text/event-stream' } }) }`
const large = 'export default { fetch: () => new Response(new Uint8Array(5e6)) }'
const upload =
  'export default { fetch: async (request) => new Response(String((await request.bytes()).length)) }'
const never = 'export default () => new Promise(() => {})'
const short = 'export default ({ payload }) => payload'

async function main(options: {
  program: string | undefined
  seconds: number
  clients: number
  idle: readonly number[]
}): Promise<void> {
  const { program, seconds, clients } = options
  const command = program === undefined ? undefined : [process.execPath, program, 'serve']
  await using croft = await startCroft(command, { CROFT_TRUSTED_PROXIES: '127.0.0.1' })
  await publish(croft, WAITING, [
    { name: 'events', code: events, http: true },
    { name: 'large', code: large, http: true },
    { name: 'upload', code: upload, http: true },
    { name: 'never', code: never },
    { name: 'neverHttp', code: `export default { fetch: ${never.slice(15)} }`, http: true },
    { name: 'short', code: short },
  ])
  await publish(croft, INNOCENT, [{ name: 'short', code: short }])
  await waitUntil('published', () => answerShort(croft, [WAITING, INNOCENT]))
  const victims = (what: string) =>
    measureVictims(croft, [WAITING, INNOCENT], seconds).then((measured) => report(what, measured))
  await victims('alone')
  for (const [what, request] of Object.entries(REQUESTS)) {
    await using waiting = new WaitingClients(croft, WAITING)
    await waiting.open(clients, request)
    await delay(1000)
    await victims(`${clients} × ${what}; ${waiting.summary}`)
    if (!what.startsWith('never')) continue
    waiting.leave()
    await victims(`${clients} × ${what}, left`)
  }
  for (const count of options.idle) {
    await using waiting = new WaitingClients(croft, WAITING)
    const before = await waiting.settledMemory()
    await waiting.open(count, REQUESTS['event streams'])
    const after = await waiting.settledMemory()
    const kb = (name: 'service' | 'hosts') =>
      ((after[name] - before[name]) / 1024 / count).toFixed(1)
    await victims(
      `${count} idle streams; ${waiting.summary}; each ${kb('service')} KB in the service, ${kb('hosts')} KB in hosts`,
    )
  }
}

const REQUESTS = {
  'event streams': 'GET /data/public/events',
  'readers of 5 MB that do not read': 'GET /data/public/large',
  'uploads of one byte': 'POST /data/public/upload',
  'never answered': 'JSON /data/public/never',
  'never answered in HTTP mode': 'GET /data/public/neverHttp',
} as const

function report(what: string, measured: readonly Victims[]): void {
  console.log(what)
  for (const { domain, calls, failed, p50, p99, longest } of measured) {
    if (failed > 0) process.exitCode = 1
    console.log(
      `  ${domain}: ${calls} short calls, ${failed} failed; p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`,
    )
  }
}

const { values } = parseArgs({
  options: {
    program: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    clients: { type: 'string', default: '64' },
    idle: { type: 'string', default: '1000,5000' },
    help: { type: 'boolean' },
  },
})
if (values.help) console.log(USAGE)
else
  await main({
    program: values.program,
    seconds: Number(values.seconds),
    clients: Number(values.clients),
    idle: values.idle.split(',').filter(Boolean).map(Number),
  })
