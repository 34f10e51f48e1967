import type ivm from 'isolated-vm'

import { LongCrypto } from '#sandbox/crypto/long-crypto.ts'
import { QuickCrypto } from '#sandbox/crypto/quick-crypto.ts'
import { GuestContext } from '#sandbox/host/context.ts'
import { CpuClock } from '#sandbox/host/cpu-clock.ts'
import type { EntryResult } from '#sandbox/host/entry-result.ts'
import type { GuestParts } from '#sandbox/host/guest-parts.ts'
import { blankIsolate, GuestIsolate } from '#sandbox/host/isolate.ts'
import { sectionOf } from '#sandbox/host/sections.ts'
import type { ModuleSource, SlotDefinition, ToGuest } from '#sandbox/protocol/protocol.ts'

import { answerHostCall } from './host-answers.ts'
import type { Finding, FromLane, Job } from './protocol.ts'

const MEMORY_MB = 1024
const MAX_RECORDS = 64
/** Before each line that is a finding. */
const MARK = 'conformance '
const START = `const { log } = console
const { stringify } = JSON
globalThis.conformance = { report: (finding) => log('${MARK}' + stringify(finding)) }`
/** The load never ends, so that all of a test runs while what modules may extend is still open. */
const WAIT = `await new Promise(() => {})
export default () => null`

export interface IsolateOptions {
  readonly snapshot: ivm.ExternalCopy<ArrayBuffer>
  readonly parts: GuestParts
  /** How long one entry may run. */
  readonly cpuMs: number
}

type Send = (message: FromLane) => void

/** Runs a job as the modules of a function, in an isolate of its own, until it is done or nothing more can come. */
export async function runInIsolate(
  { snapshot, parts, cpuMs }: IsolateOptions,
  job: Job,
  send: Send,
): Promise<void> {
  const home = new GuestIsolate('conformance', blankIsolate(MEMORY_MB, snapshot))
  const services = { parts, crypto: new QuickCrypto(), cpu: new CpuClock(), tries: 0 }
  const context = new GuestContext(home, definitionOf(job, cpuMs), services)
  const running = new IsolateRun(context, job, send)
  try {
    await running.run()
  } finally {
    running.close()
    home.dispose()
  }
}

class IsolateRun {
  readonly #context: GuestContext
  readonly #job: Job
  readonly #send: Send
  readonly #longCrypto = new LongCrypto({
    answered: (id, { text }) => this.#answer(id, { ok: true, text }),
  })
  #answers: ToGuest[] = []
  #asked = 0
  #wake: (() => void) | undefined

  constructor(context: GuestContext, job: Job, send: Send) {
    this.#context = context
    this.#job = job
    this.#send = send
  }

  async run(): Promise<void> {
    const { loading, entry } = this.#context.load()
    let after = this.#read(entry)
    if (loading.state === 'failed' && after.ending[0] !== 'completed') {
      this.#send({ kind: 'ended', ending: 'crashed', message: loading.fault.message })
      return
    }
    while (after.going) {
      await this.#next(after.dueMs)
      after = this.#enter()
    }
    const [ending, message] = after.ending
    this.#send({ kind: 'ended', ending, message })
  }

  close(): void {
    this.#longCrypto.close()
  }

  #enter(): Outcome {
    const records = this.#answers
    this.#answers = []
    let entry = this.#context.enter(sectionOf(records), MAX_RECORDS)
    let outcome = this.#read(entry)
    while (outcome.going && entry.begun < records.length) {
      entry = this.#context.enter('', MAX_RECORDS)
      outcome = this.#read(entry)
    }
    return outcome
  }

  #read(entry: EntryResult): Outcome {
    const findings: Finding[] = []
    let dueMs = 0
    for (const record of entry.records) {
      if (record.kind === 'nextTimer') dueMs = record.numbers[0]
      else if (record.kind === 'hostCall') this.#ask(record.numbers[0], record.texts)
      else if (record.kind === 'log') findings.push(...findingOf(record.texts[0]))
    }
    if (findings.length > 0) this.#send({ kind: 'findings', findings })
    if (findings.some((finding) => 'done' in finding)) return over('completed', '')
    if (entry.stopped) return over('crashed', `Stopped by the limit ${entry.stopped}`)
    if (dueMs === 0 && this.#asked === 0) return over('stuck', 'Nothing is left that could wake it')
    return { going: true, dueMs, ending: ['stuck', ''] }
  }

  #ask(id: number, [name, argument]: readonly [string, string]): void {
    this.#asked += 1
    if (name === 'crypto')
      this.#longCrypto.ask({ hostCall: id, siteId: 'conformance', request: argument })
    else
      void answerHostCall(this.#job.root, name, argument).then((answer) => this.#answer(id, answer))
  }

  #answer(id: number, { ok, text }: { readonly ok: boolean; readonly text: string }): void {
    this.#asked -= 1
    this.#answers.push({ kind: 'answer', numbers: [id, ok ? 1 : 0], texts: [text] })
    this.#wake?.()
  }

  async #next(dueMs: number): Promise<void> {
    if (this.#answers.length > 0) return
    await new Promise<void>((resolve) => {
      const timer = dueMs > 0 ? setTimeout(resolve, Math.max(0, dueMs - Date.now())) : undefined
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }
}

interface Outcome {
  readonly going: boolean
  readonly dueMs: number
  readonly ending: readonly [ending: 'completed' | 'stuck' | 'crashed', message: string]
}

const over = (ending: 'completed' | 'stuck' | 'crashed', message: string): Outcome => ({
  going: false,
  dueMs: 0,
  ending: [ending, message],
})

const findingOf = (line: string): Finding[] =>
  line.startsWith(MARK) ? [JSON.parse(line.slice(MARK.length)) as Finding] : []

function definitionOf(job: Job, cpuMs: number): SlotDefinition {
  return {
    programKey: 'conformance',
    siteId: 'conformance',
    siteDomain: 'conformance.test',
    name: 'conformance',
    entry: 'conformance/entry.js',
    handler: 'default',
    modules: modulesOf(job),
    env: {},
    timeoutMs: cpuMs,
    memoryMb: MEMORY_MB,
    // Lifted as far as the tests need: what they say of themselves are lines.
    limits: { cpuMs, resultBytes: 1024, logLineLength: 1 << 20, logLines: 1 << 30 },
    purpose: 'operation',
  }
}

function modulesOf({ form, source }: Job): ModuleSource[] {
  const entry = `import './start.cjs'; import './tests.${form === 'script' ? 'cjs' : 'js'}'\n${WAIT}`
  return [
    { path: 'conformance/entry.js', format: 'esm', code: entry },
    { path: 'conformance/start.cjs', format: 'commonjs', code: START },
    form === 'module'
      ? { path: 'conformance/tests.js', format: 'esm', code: source }
      : { path: 'conformance/tests.cjs', format: 'commonjs', code: evaluated(source) },
  ]
}

/** A script's functions and variables are names of the global object. */
const evaluated = (script: string): string => `const { report } = globalThis.conformance
try {
  (0, eval)(${JSON.stringify(script)})
} catch (error) {
  report({ error: String(error) })
}`
