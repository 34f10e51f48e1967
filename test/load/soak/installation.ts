import { readdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { rssBytes } from '#platform/sandbox-host/process-usage.ts'
import { CroftProcess, freePort } from '#test/croft-process.ts'
import { isRunning, type RunningProcess } from '#test/process-table.ts'
import { runs, type SandboxProgram } from '#test/sandbox-processes.ts'

const ROOT = join(import.meta.dirname, '../../..')
const MIB = 2 ** 20
/** So long after a kill of ours a call may fail for it. */
const EXCUSED_MS = 10_000

export interface Footprint {
  readonly serviceMib: number
  readonly hostsMib: number
  readonly hosts: number
  readonly files: number
}

/** The real program on a data folder of its own, which outlives each of its lives. */
export class Installation implements AsyncDisposable {
  /** Counts the starts. */
  life = 0
  bornMs = 0
  /** Whether it is between two lives. */
  isDown = false
  #killedMs = -Infinity
  readonly #folder: string
  readonly #port: number
  readonly #settings: Readonly<Record<string, string>>
  #croft: CroftProcess | undefined
  readonly #seen = new Map<string, RunningProcess>()

  private constructor(of: {
    folder: string
    port: number
    settings: Readonly<Record<string, string>>
  }) {
    this.#folder = of.folder
    this.#port = of.port
    this.#settings = of.settings
  }

  /** `settings` are variables of its environment. */
  static async start(settings: Readonly<Record<string, string>>): Promise<Installation> {
    const folder = await mkdtemp(join(tmpdir(), 'croft-soak-'))
    // As root the database runs as another user, which needs access to the folder.
    await chmod(folder, 0o755)
    const installation = new Installation({ folder, port: await freePort(), settings })
    await installation.#live()
    return installation
  }

  get croft(): CroftProcess {
    if (!this.#croft) throw new Error('The service does not run')
    return this.#croft
  }

  /** Whether something was killed that a call may have failed for. */
  get excuses(): boolean {
    return this.isDown || performance.now() - this.#killedMs < EXCUSED_MS
  }

  /** Ends the service at once and starts it again on what it has left. */
  async killService(): Promise<void> {
    this.footprint()
    const { croft } = this
    this.isDown = true
    await croft.kill()
    await this.#live()
  }

  /** Kills one of the processes under the service that run the program; false when there is none. */
  killChild(
    program: SandboxProgram,
    choose: (all: readonly RunningProcess[]) => RunningProcess,
  ): boolean {
    const found = this.croft.processes().filter((one) => runs(one, program))
    if (found.length === 0) return false
    this.#killedMs = performance.now()
    process.kill(choose(found).pid, 'SIGKILL')
    return true
  }

  footprint(): Footprint {
    const { pid } = this.croft
    const under = this.croft.processes()
    for (const one of under) this.#seen.set(`${one.pid} ${one.started}`, one)
    const hosts = under.filter((one) => runs(one, 'host'))
    const hostBytes = hosts.reduce((sum, host) => sum + rssBytes(host.pid), 0)
    return {
      serviceMib: rssBytes(pid) / MIB,
      hostsMib: hostBytes / MIB,
      hosts: hosts.length,
      files: readdirSync(`/proc/${pid}/fd`).length,
    }
  }

  /** What was under the service once, runs still, and is under it no longer. The database may go on to the next life. */
  orphans(): RunningProcess[] {
    const under = new Set(this.croft.isOver ? [] : this.croft.processes().map(({ pid }) => pid))
    const lost: RunningProcess[] = []
    for (const [key, one] of this.#seen) {
      if (!isRunning(one)) this.#seen.delete(key)
      else if (!under.has(one.pid) && (this.croft.isOver || !/postgres/.test(one.command))) {
        lost.push(one)
      }
    }
    return lost
  }

  async stop(): Promise<number | null> {
    this.footprint()
    return (await this.croft.stop()).code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#croft?.[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #live(): Promise<void> {
    this.#croft = await CroftProcess.start({
      root: ROOT,
      dataDir: join(this.#folder, 'data'),
      port: this.#port,
      env: this.#settings,
    })
    this.life += 1
    this.bornMs = performance.now()
    this.#killedMs = this.bornMs
    this.isDown = false
  }
}
