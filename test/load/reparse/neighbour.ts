import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { LoadReport } from '#bench/load/load-run.ts'
import { rssBytes } from '#platform/sandbox-host/process-usage.ts'
import type { CroftProcess } from '#test/croft-process.ts'
import { RawSmtp } from '#test/inbound-mail.ts'
import { runs } from '#test/sandbox-processes.ts'

import type { Portal } from './portal.ts'

const ROOT = join(import.meta.dirname, '../../..')
const MIB = 2 ** 20
const DELIVERY_PAUSE_MS = 250
const LOOK_MS = 10

export const NEIGHBOUR = 'neighbour.test'

/** What the neighbour saw for some seconds, and what the service held. */
export interface Round {
  readonly calls: LoadReport['total']
  /** From the connection to the acknowledgement, and on to the text in the API. */
  readonly acknowledgedMs: readonly number[]
  readonly shownMs: readonly number[]
  readonly serviceMib: number
  readonly parsersMib: number
}

interface RoundOptions {
  readonly smtpPort: number
  readonly rate: number
  readonly seconds: number
}

/** Calls the neighbour's function at a steady rate, and sends it a message four times a second. */
export async function neighbourRound(
  croft: CroftProcess,
  portal: Portal,
  { smtpPort, rate, seconds }: RoundOptions,
): Promise<Round> {
  const acknowledgedMs: number[] = []
  const shownMs: number[] = []
  let [serviceMib, parsersMib] = [0, 0]
  let isOver = false
  const delivering = (async () => {
    while (!isOver) {
      const begunMs = performance.now()
      const subject = `delivery ${crypto.randomUUID()}`
      await deliver(smtpPort, subject)
      acknowledgedMs.push(performance.now() - begunMs)
      await untilShown(portal, subject)
      shownMs.push(performance.now() - begunMs)
      serviceMib = Math.max(serviceMib, rssBytes(croft.pid) / MIB)
      const parsers = croft.processes().filter((one) => runs(one, 'mail parser'))
      const held = parsers.reduce((sum, { pid }) => sum + rssBytes(pid), 0)
      parsersMib = Math.max(parsersMib, held / MIB)
      await sleep(DELIVERY_PAUSE_MS)
    }
  })()
  const calls = await callFunction(croft, { rate, seconds })
  isOver = true
  if (calls.firstFault !== undefined) console.error(`first fault: ${calls.firstFault}`)
  await delivering
  return { calls: calls.total, acknowledgedMs, shownMs, serviceMib, parsersMib }
}

async function deliver(port: number, subject: string): Promise<void> {
  const client = await RawSmtp.greeted(port)
  const text = `From: bench@a.test\r\nSubject: ${subject}\r\n\r\nSome words.\r\n`
  const reply = await client.message('bench@a.test', [`info@${NEIGHBOUR}`], text)
  if (!reply.startsWith('250')) throw new Error(reply)
  client.socket.destroy()
}

async function untilShown(portal: Portal, subject: string): Promise<void> {
  for (;;) {
    const { items } = await portal.get<{ items: { subject: string; snippet: string }[] }>(
      `/sites/${NEIGHBOUR}/messages?limit=5`,
    )
    if (items.some((item) => item.subject === subject && item.snippet !== '')) return
    await sleep(LOOK_MS)
  }
}

/** In a process of its own: what is computed here does not count as waiting. */
async function callFunction(
  croft: CroftProcess,
  { rate, seconds }: Pick<RoundOptions, 'rate' | 'seconds'>,
): Promise<LoadReport> {
  const options = {
    url: `http://127.0.0.1:${croft.port}`,
    host: NEIGHBOUR,
    path: '/data/public/add',
    body: '{"payload":1}',
    includes: '2',
    connections: '32',
    rate: String(rate),
    seconds: String(seconds),
  }
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const args = [join(ROOT, 'test/load/main.ts'), ...words, '--json']
  // Exit code 1 means that calls failed; the report says which.
  const { stdout } = await promisify(execFile)(process.execPath, args).catch(
    (error: { readonly stdout?: string }) => {
      if (!error.stdout) throw error
      return { stdout: error.stdout }
    },
  )
  const report: LoadReport = JSON.parse(stdout)
  return report
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
