import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { type Child, startChild } from '#bench/child-process.ts'
import { readCpu as readTrees } from '#bench/cpu-clock.ts'
import { freePorts } from '#bench/free-ports.ts'
import { httpCall } from '#bench/http-call.ts'
import { columns } from '#bench/load/load-table.ts'
import { waitUntil } from '#bench/wait-until.ts'
import { processCommand } from '#config/process-identity.ts'
import { childrenOf } from '#test/process-table.ts'
import { runs, sandboxProgram } from '#test/sandbox-processes.ts'

import { readCpu, readMemory, sharesAlone, wakeupsSince } from './rest/process-share.ts'

const MAX_MB = 350
const MAX_PERCENT = 1
const MAX_START_MS = 2500
const USAGE = `npm run load:rest -- [--program PATH] [--npm] [--quiet N] [--seconds N] [--starts N] [--check]

Starts a fresh installation as "croft serve" does, or "npm start" with --npm, with the site localhost and its one function,
times the first answers, starts it again on the same folder (--starts, 2), leaves it alone for --quiet seconds (150), and
then measures for --seconds (60) what each process holds and computes. --program names bin/croft.js of another checkout.
With --check it exits with 1 above ${MAX_MB} MB, ${MAX_PERCENT} % of a core, or ${MAX_START_MS} ms to the first answer.`

const OPERATION = '/data/public/hello'
const PROGRAM = fileURLToPath(new URL('../../bin/croft.js', import.meta.url))
const SETTINGS_OF_OTHERS =
  /^(?:CROFT_|S3_|SMTP_|SUBMISSION_|DATABASE_URL$|REDIS_URL$|PORT$|HOST$|npm_)/

interface Start {
  /** From the start of the command until a request is answered, the service is ready, and a function has answered. */
  readonly answerMs: number
  readonly readyMs: number
  readonly functionMs: number
  /** Processor time of all its processes until then. */
  readonly cpuSeconds: number
}

interface Options {
  readonly program: string
  readonly npm: boolean
  readonly quiet: number
  readonly seconds: number
  readonly starts: number
  readonly check: boolean
}

interface Running extends Start {
  readonly child: Child
  /** Calls the function; gives the status. */
  readonly call: () => Promise<number>
}

async function main(options: Options): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-rest-'))
  await chmod(folder, 0o755)
  const ports = await freePorts(3)
  try {
    let running = await start(options, folder, ports)
    try {
      report('first start', running)
      for (let again = 1; again < options.starts; again += 1) {
        await running.child[Symbol.asyncDispose]()
        running = await start(options, folder, ports)
        report('start again', running)
      }
      await delay(options.quiet * 1000)
      const rest = await measure(running.child.pid, options.seconds)
      await takeOver(running)
      if (!options.check) return
      const isFine =
        rest.mb <= MAX_MB && rest.percent <= MAX_PERCENT && running.answerMs <= MAX_START_MS
      process.exitCode = isFine ? 0 : 1
    } finally {
      await running.child[Symbol.asyncDispose]()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function start(
  { program, npm }: Options,
  folder: string,
  [port, smtp, submission]: readonly number[],
): Promise<Running> {
  const env = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !SETTINGS_OF_OTHERS.test(name)),
    ),
    CROFT_DATA_DIR: join(folder, 'data'),
    PORT: String(port),
    SMTP_PORT: String(smtp),
    SUBMISSION_PORT: String(submission),
  }
  const origin = `http://127.0.0.1:${port}`
  const call = async (path: string, body?: unknown) => {
    try {
      const method = body === undefined ? 'GET' : 'POST'
      return (await httpCall({ origin, host: 'localhost', method, path, body })).status
    } catch {
      // The port is not open yet.
      return 0
    }
  }
  const startedMs = performance.now()
  const child = npm
    ? startChild('npm', ['start'], { env, cwd: join(program, '../..') })
    : startChild(process.execPath, [program, 'serve'], { env })
  const since = async (what: string, ask: () => Promise<boolean>): Promise<number> => {
    await Promise.race([waitUntil(what, ask), child.ended()])
    return performance.now() - startedMs
  }
  try {
    const answerMs = await since('answer', async () => (await call('/readyz')) !== 0)
    const readyMs = await since('readiness', async () => (await call('/readyz')) === 200)
    const payload = { name: 'Ada' }
    const callFunction = () => call(OPERATION, { payload })
    const functionMs = await since('function', async () => (await callFunction()) === 200)
    const cpuSeconds = readTrees([child.pid]).trees.get(child.pid) ?? 0
    return { child, call: callFunction, answerMs, readyMs, functionMs, cpuSeconds }
  } catch (error) {
    await child[Symbol.asyncDispose]()
    throw error
  }
}

/** Kills every host that takes calls, at rest and while calls come, and times until a call is answered again. */
async function takeOver({ child, call }: Running): Promise<void> {
  for (const when of ['at rest', 'while calls come']) {
    const hosts = childrenOf(child.pid).filter((one) => runs(one, 'host'))
    // The one that was started first is the one that runs the site.
    const [host] = hosts.toSorted((one, other) => one.pid - other.pid)
    if (host === undefined) throw new Error('no host runs')
    process.kill(host.pid, 'SIGKILL')
    const killedMs = performance.now()
    let failed = 0
    for (let status = 0; status !== 200; status = await call()) failed += Number(status !== 0)
    const ms = performance.now() - killedMs
    console.log(
      `a host killed ${when}: a call is answered ${ms.toFixed(0)} ms later, after ${failed} that failed; ${hosts.length} hosts`,
    )
    for (const endMs = performance.now() + 5000; performance.now() < endMs;) {
      await call()
      await delay(20)
    }
  }
}

function report(what: string, { answerMs, readyMs, functionMs, cpuSeconds }: Start): void {
  const [answer, ready, called] = [answerMs, readyMs, functionMs].map((ms) => ms.toFixed(0))
  console.log(
    `${what}: first answer ${answer} ms, ready ${ready} ms, function ${called} ms; ${cpuSeconds.toFixed(2)} s of CPU`,
  )
}

async function measure(root: number, seconds: number): Promise<{ mb: number; percent: number }> {
  const processes = [
    { pid: root, command: processCommand(root) },
    ...childrenOf(root).map(({ pid, command }) => ({ pid, command })),
  ]
  const before = processes.map(({ pid }) => readCpu(pid))
  await delay(seconds * 1000)
  const memory = new Map(
    processes.flatMap(({ pid }) => {
      const reading = readMemory(pid)
      return reading === undefined ? [] : [[pid, reading] as const]
    }),
  )
  const alone = sharesAlone(memory)
  const total = { mb: 0, pssMb: 0, percent: 0, wakeups: 0 }
  const rows = processes.map(({ pid, command }, at) => {
    const cpu = readCpu(pid)
    const percent = (cpu.ms - (before[at]?.ms ?? 0)) / seconds / 10
    const wakeups = wakeupsSince(before[at], cpu) / seconds
    const mb = (alone.get(pid) ?? 0) / 1024
    const pssMb = (memory.get(pid)?.pssKb ?? 0) / 1024
    if (!command.startsWith('npm')) {
      total.mb += mb
      total.pssMb += pssMb
      total.percent += percent
      total.wakeups += wakeups
    }
    return rowOf(nameOf(command), { mb, pssMb, percent, wakeups })
  })
  const headings = ['at rest', 'MB alone', 'PSS MB', '% of a core', 'wake-ups/s']
  console.log(columns([headings, ...rows, rowOf('all but npm', total)]))
  return total
}

const rowOf = (
  name: string,
  { mb, pssMb, percent, wakeups }: Record<'mb' | 'pssMb' | 'percent' | 'wakeups', number>,
): string[] => [name, mb.toFixed(1), pssMb.toFixed(1), percent.toFixed(2), wakeups.toFixed(1)]

/** What a process is for, as far as its command line tells. */
function nameOf(command: string): string {
  const program = sandboxProgram({ command })
  const [, entry] = /\b(src\/\w[\w-]*\.[jt]s)/.exec(command.split(' ').toReversed().join(' ')) ?? []
  if (command.includes('bwrap ')) return 'bwrap'
  if (program !== undefined) return program
  if (entry !== undefined) return entry
  return command.startsWith('postgres:') ? command.slice(0, 40).trim() : command.slice(0, 30)
}

const { values } = parseArgs({
  options: {
    program: { type: 'string', default: PROGRAM },
    npm: { type: 'boolean', default: false },
    quiet: { type: 'string', default: '150' },
    seconds: { type: 'string', default: '60' },
    starts: { type: 'string', default: '2' },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else {
  const { quiet, seconds, starts } = values
  await main({
    ...values,
    quiet: Number(quiet),
    seconds: Number(seconds),
    starts: Number(starts),
  })
}
