import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { httpCall } from '#bench/http-call.ts'
import { quantile } from '#bench/median.ts'
import { waitUntil } from '#bench/wait-until.ts'

import { publish } from './streams/published-function.ts'

const USAGE = `node test/load/streams.ts [--seconds N] [--spin-ms N]

Calls a site 25 times a second, alone and while another site streams endless responses to 4, 20 and 60 clients, after 60
more have asked, read nothing and left. With --spin-ms each chunk of a stream takes so much processor time. Exits with 1
if a call fails, or if the slowest of a hundred takes more than a second.`

const STREAMING = 'streaming.test'
const INNOCENT = 'innocent.test'
const EVERY_MS = 40
const LEAVING = 60
const MAX_P99_MS = 1000

/** As much as its client takes, without a pause. */
const endless = (spinMs: number): string => `const chunk = new Uint8Array(16 * 1024)
const pull = (controller) => {
  for (const endMs = Date.now() + ${spinMs}; Date.now() < endMs; );
  controller.enqueue(chunk)
}
export default { fetch: () => new Response(new ReadableStream({ pull })) }`

interface Measured {
  readonly latenciesMs: readonly number[]
  readonly failed: number
  readonly streamedBytes: number
}

async function main(seconds: number, spinMs: number): Promise<void> {
  await using croft = await startCroft()
  await publish(croft, STREAMING, [{ name: 'answer', code: endless(spinMs), http: true }])
  const echo = 'export default ({ payload }) => payload'
  await publish(croft, INNOCENT, [{ name: 'answer', code: echo }])
  await waitUntil('published', async () => (await callInnocent(croft)).status === 200)
  report('alone', await measured(croft, 0, seconds))
  for (const readers of [4, 20, 60]) {
    const leaving = await Promise.all(Array.from({ length: LEAVING }, () => asked(croft)))
    await delay(1000)
    for (const socket of leaving) socket.destroy()
    report(`${readers} readers`, await measured(croft, readers, seconds))
  }
}

/** A client that asks for the endless response and reads nothing. */
async function asked({ origin }: CroftProcess): Promise<Socket> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname).pause()
  await once(socket, 'connect')
  socket.write(`GET /data/public/answer HTTP/1.1\r\nhost: ${STREAMING}\r\n\r\n`)
  return socket.on('error', () => {})
}

/** A client of the endless response, once it has begun. */
async function opened({ origin }: CroftProcess): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const url = `${origin}/data/public/answer`
  request(url, { headers: { host: STREAMING }, agent: false }, resolve)
    .on('error', reject)
    .end()
  const response = await promise
  return response.on('error', () => {})
}

const callInnocent = ({ origin }: CroftProcess) =>
  httpCall({
    origin,
    host: INNOCENT,
    method: 'POST',
    path: '/data/public/answer',
    body: { payload: 1 },
  })

async function measured(croft: CroftProcess, readers: number, seconds: number): Promise<Measured> {
  const reading = await Promise.all(Array.from({ length: readers }, () => opened(croft)))
  let streamedBytes = 0
  for (const response of reading) {
    response.on('data', (chunk: Buffer) => {
      streamedBytes += chunk.byteLength
    })
  }
  const latenciesMs: number[] = []
  let failed = 0
  const call = async (): Promise<void> => {
    const { status, ms } = await callInnocent(croft)
    latenciesMs.push(ms)
    if (status !== 200) failed += 1
  }
  const open: Promise<void>[] = []
  for (const endMs = performance.now() + seconds * 1000; performance.now() < endMs;) {
    open.push(call())
    await delay(EVERY_MS)
  }
  await Promise.all(open)
  for (const response of reading) response.destroy()
  return { latenciesMs, failed, streamedBytes }
}

function report(what: string, { latenciesMs, failed, streamedBytes }: Measured): void {
  const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => quantile(latenciesMs, share))
  const ms = (value = 0): string => `${value.toFixed(1)} ms`
  const streamed = (streamedBytes / 1e6).toFixed(0)
  console.log(
    `${what}: ${latenciesMs.length} calls, ${failed} failed; p50 ${ms(p50)}, p99 ${ms(p99)}, longest ${ms(longest)}; streamed ${streamed} MB`,
  )
  if (failed > 0 || (p99 ?? 0) > MAX_P99_MS) process.exitCode = 1
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    'spin-ms': { type: 'string', default: '0' },
    help: { type: 'boolean' },
  },
})
if (values.help) console.log(USAGE)
else await main(Number(values.seconds), Number(values['spin-ms']))
