import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import { readDeploymentSettings } from '#sites/deployment-settings.ts'

import {
  addCalls,
  selectNewestActivationNumber,
  selectSiteSettings,
  updateRollbackStatus,
} from './health-queries.ts'
import type { WatchedCode } from './live-activation.ts'
import { type CallCounts, exceeds } from './rollback-rule.ts'

const FLUSH_MS = 1000

interface Pending {
  readonly siteId: string
  readonly activationNumber: number
  calls: number
  failures: number
}

/**
 * Counts, in the minute after a deployment became current, how many calls ran its code and how many of them failed. The counts of
 * all replicas are added up in the database every second; where the site wants it, a deployment that fails too often is queued
 * for a rollback, by the transaction that finds so.
 */
export class DeploymentHealth implements AsyncDisposable {
  readonly #deps
  #pending = new Map<string, Pending>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(deps: Pick<PlatformServices, 'database' | 'queue' | 'clock' | 'logger'>) {
    this.#deps = deps
  }

  /** Never throws and never waits: this is on the path of a call. */
  record(siteId: string, code: WatchedCode | null, outcome: 'answered' | 'failed'): void {
    if (code === null || this.#deps.clock.now().getTime() >= code.watchedUntilMs) return
    const failures = outcome === 'failed' ? 1 : 0
    this.#add({ siteId, activationNumber: code.activationNumber, calls: 1, failures })
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const pending = this.#pending
    this.#pending = new Map()
    this.#writing = this.#writing.then(() => this.#write([...pending.values()]))
    return this.#writing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
  }

  #add({ siteId, activationNumber, calls, failures }: Readonly<Pending>): void {
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS)
    const key = `${siteId} ${activationNumber}`
    let counts = this.#pending.get(key)
    if (!counts) {
      counts = { siteId, activationNumber, calls: 0, failures: 0 }
      this.#pending.set(key, counts)
    }
    counts.calls += calls
    counts.failures += failures
  }

  async #write(pending: readonly Pending[]): Promise<void> {
    for (const counts of pending) {
      try {
        await this.#deps.database.withSite(counts.siteId, (tx) => this.#judge(tx, counts))
      } catch (error) {
        // They wait for the next time: the database may be back.
        this.#deps.logger.warn({ siteId: counts.siteId, err: error }, 'health of a deployment')
        this.#add(counts)
      }
    }
  }

  async #judge(tx: SiteTx, { activationNumber, ...counts }: Pending): Promise<void> {
    const activation = await addCalls(tx, activationNumber, counts)
    // A rollback is not judged, so that a site does not switch back and forth.
    if (activation?.reason !== 'deploy' || activation.replacedId === null) return
    if (activation.rollbackStatus !== null || !(await isTooHigh(tx, activation))) return
    if ((await selectNewestActivationNumber(tx)) !== activationNumber) return
    await updateRollbackStatus(tx, activationNumber, { status: 'due' })
    const job = { siteId: tx.siteId, activationNumber }
    await this.#deps.queue.enqueue(tx, 'deployment-rollback', job)
  }
}

const isTooHigh = async (tx: SiteTx, counts: CallCounts): Promise<boolean> =>
  exceeds(counts, readDeploymentSettings(await selectSiteSettings(tx)).autoRollback)
