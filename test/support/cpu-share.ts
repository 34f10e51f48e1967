import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = '/sys/fs/cgroup'
const PERIOD_US = 100_000

/** Where control groups of processors are: of the second version, or of the first. */
const isUnified = existsSync(join(ROOT, 'cgroup.controllers'))
const HOME = isUnified ? ROOT : join(ROOT, 'cpu')

/** Who may not make control groups has no way to share a processor out. */
export const canShareCpu =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  (isUnified
    ? readFileSync(join(ROOT, 'cgroup.subtree_control'), 'utf8').split(/\s/).includes('cpu')
    : existsSync(join(HOME, 'cpu.cfs_quota_us')))

/** A control group: all in it, and what they start, have so many hundredths of one processor together. */
export class CpuShare implements Disposable {
  readonly #folder = join(HOME, `croft-test-${process.pid}-${Date.now()}`)

  constructor(percent: number) {
    mkdirSync(this.#folder)
    const quota = String((percent / 100) * PERIOD_US)
    if (isUnified) this.#write('cpu.max', `${quota} ${PERIOD_US}`)
    else this.#write('cpu.cfs_quota_us', quota)
  }

  add(pid: number): void {
    this.#write('cgroup.procs', String(pid))
  }

  /** Back to where all others are. */
  [Symbol.dispose](): void {
    if (!existsSync(this.#folder)) return
    for (const pid of this.#pids()) writeFileSync(join(HOME, 'cgroup.procs'), pid)
    rmdirSync(this.#folder)
  }

  #pids(): string[] {
    return readFileSync(join(this.#folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)
  }

  #write(name: string, value: string): void {
    writeFileSync(join(this.#folder, name), value)
  }
}
