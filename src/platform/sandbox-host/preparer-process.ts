import { once } from 'node:events'

import type { Logger } from '#platform/log/logger.ts'
import { encodeFrame, FrameReader } from '#sandbox/protocol/frames.ts'
import type { PreparerAnswer } from '#sandbox/protocol/protocol.ts'

import type { HostCommand } from './host-command.ts'
import type { ProcessEnd } from './inner-process.ts'
import { cpuMs, rssBytes } from './process-usage.ts'
import { type StartedProcess, startProcess } from './start-process.ts'

const LOOK_EVERY_MS = 25
/** A process that gets no processor time is slow, not at work for too long; up to a point. */
const MAX_WAIT_MS = 120_000
/** How V8, the allocators and the kernel end a process for what it does itself. */
const OWN_DEATHS: readonly (NodeJS.Signals | null)[] = [
  'SIGABRT',
  'SIGTRAP',
  'SIGILL',
  'SIGSEGV',
  'SIGBUS',
]

export interface PreparerLimits {
  /** Processor time for one source. */
  readonly cpuMs: number
  /** Resident memory of the process. */
  readonly memoryBytes: number
}

/** What a source does to a process that has read nothing before it; `interrupted` has no culprit. */
type Loss = 'cpu' | 'memory' | 'crash' | 'interrupted'

export type PreparerReply = Exclude<PreparerAnswer, { ready: true }> | { readonly lost: Loss }

/** One life of the process that prepares code. It ends when anything is wrong with it. */
export class PreparerProcess {
  readonly #process: StartedProcess
  readonly #limits: PreparerLimits
  readonly #logger: Logger
  readonly #exited: Promise<unknown>
  #isReady = false
  /** When the source was handed over, and the processor time that the process had used before it read it. */
  #begun = { atMs: 0, cpuMs: 0 }
  #killed: Loss | undefined
  #settle: ((answer: PreparerReply) => void) | undefined
  /** Sources it was given. */
  asked = 0
  ended = false

  constructor(command: HostCommand, limits: PreparerLimits, logger: Logger) {
    this.#limits = limits
    this.#logger = logger
    this.#process = startProcess(command, 'pipe')
    const { child } = this.#process
    this.#exited = once(child, 'close').catch(() => {})
    const frames = new FrameReader()
    child.stdout?.on('data', (chunk: Buffer) => {
      for (const text of frames.push(chunk)) this.#receive(JSON.parse(text) as PreparerAnswer)
    })
    child.on('error', (err) => {
      logger.error({ err }, 'the process that prepares code does not start')
      this.#onEnd('interrupted')
    })
    child.on('close', (code, signal) => {
      if (command.memory?.ranOut() === true) this.#killed ??= 'memory'
      void command.memory?.remove()
      this.#onExit(this.#process.endOf({ code, signal }))
    })
  }

  get pid(): number {
    return this.#process.pid()
  }

  /** Processor time that the source took that was read last. */
  usedMs = 0

  get rssBytes(): number {
    return rssBytes(this.pid)
  }

  /** 0 once it is gone: why it went, its exit tells. */
  get #cpuMs(): number {
    return cpuMs(this.pid) ?? 0
  }

  /** `source` is JSON of `FunctionFiles`. One at a time; never rejects. */
  async ask(source: string): Promise<PreparerReply> {
    if (this.ended) return { lost: 'interrupted' }
    this.asked += 1
    this.usedMs = 0
    const answered = new Promise<PreparerReply>((resolve) => {
      this.#settle = resolve
    })
    this.#begun = { atMs: performance.now(), cpuMs: this.#cpuMs }
    this.#process.child.stdin?.write(encodeFrame(source))
    const looking = setInterval(() => this.#look(), LOOK_EVERY_MS)
    try {
      return await answered
    } finally {
      clearInterval(looking)
      this.#measure()
    }
  }

  /** Ends it; resolves when it is gone. */
  async end(): Promise<void> {
    this.#kill('interrupted')
    await this.#exited
  }

  #measure(): void {
    if (this.#isReady) this.usedMs = Math.max(this.usedMs, this.#cpuMs - this.#begun.cpuMs)
  }

  #look(): void {
    const { memoryBytes, cpuMs: allowedMs } = this.#limits
    this.#measure()
    const waitedMs = performance.now() - this.#begun.atMs
    if (this.#isReady && this.rssBytes > memoryBytes) this.#kill('memory')
    else if (this.usedMs > allowedMs) this.#kill('cpu')
    else if (waitedMs > MAX_WAIT_MS) this.#kill('interrupted')
  }

  #kill(why: Loss): void {
    this.#killed ??= why
    this.#process.kill()
  }

  #receive(answer: PreparerAnswer): void {
    if (!('ready' in answer)) {
      this.#settle?.(answer)
      return
    }
    this.#isReady = true
    this.#begun = { ...this.#begun, cpuMs: this.#cpuMs }
  }

  #onExit({ code, signal }: ProcessEnd): void {
    const crashed = this.#isReady && OWN_DEATHS.includes(signal)
    if (this.#killed !== 'interrupted') {
      const { pid: preparerPid } = this
      const stderr = this.#process.stderr()
      const fields = { preparerPid, code, signal, killed: this.#killed, stderr }
      this.#logger.warn(fields, 'the process that prepares code ended')
    }
    this.#onEnd(this.#killed ?? (crashed ? 'crash' : 'interrupted'))
  }

  #onEnd(lost: Loss): void {
    this.ended = true
    this.#settle?.({ lost })
  }
}
