import { hasCode } from '#base/error-code.ts'
import type { PlatformServices } from '#platform/services.ts'

import {
  HOUR_MS,
  type UsageCount,
  type UsageRange,
  type OperationUsage,
  hourOf,
  emptyUsage,
} from './model.ts'
import { addOperationUsage, deleteUsageBefore, selectOperationUsage } from './queries.ts'

const FLUSH_MS = 5000
const FOREIGN_KEY_VIOLATION = '23503'
const RETENTION_MS = 400 * 24 * HOUR_MS

/** hit: a kept answer · call: an answer that was made, or waited for · error: no answer */
export type CallKind = 'hit' | 'call' | 'error'

type SiteUsage = Map<string, UsageCount>

/** Counts calls per operation and hour in memory and adds them to the database every few seconds. */
export class RuntimeUsage implements AsyncDisposable {
  readonly #deps
  #sites = new Map<string, SiteUsage>()
  #hour = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  readonly #pruned = new Map<string, number>()

  constructor(deps: Pick<PlatformServices, 'database' | 'clock' | 'logger'>) {
    this.#deps = deps
  }

  record(
    siteId: string,
    operation: string,
    kind: CallKind,
    cost: { readonly cpuUs: number; readonly wallUs: number } = { cpuUs: 0, wallUs: 0 },
  ): void {
    if (this.#timer === undefined) this.#open()
    const count = this.#countOf(siteId, operation)
    count.calls += 1
    if (kind === 'error') count.errors += 1
    if (kind === 'hit') count.cacheHits += 1
    count.cpuUs += Math.round(cost.cpuUs)
    count.wallUs += Math.round(cost.wallUs)
  }

  /** What a call that is counted has cost since. */
  recordWork(siteId: string, operation: string, cpuUs: number): void {
    if (this.#timer === undefined) this.#open()
    this.#countOf(siteId, operation).cpuUs += Math.round(cpuUs)
  }

  /** What still waited in this process is added before. */
  async list(
    siteId: string,
    range: UsageRange,
    operation: string | undefined,
  ): Promise<OperationUsage[]> {
    await this.flush()
    return this.#deps.database.withSite(siteId, (tx) => selectOperationUsage(tx, range, operation))
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const [sites, hour] = [this.#sites, new Date(this.#hour)]
    this.#sites = new Map()
    this.#writing = this.#writing.then(() => this.#write(sites, hour))
    return this.#writing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush()
  }

  /** Counts that are opened together belong to one hour; they are written well before they could matter to the next. */
  #open(): void {
    this.#hour = hourOf(this.#deps.clock.now().getTime())
    this.#timer = setTimeout(() => void this.flush(), FLUSH_MS)
  }

  #countOf(siteId: string, operation: string): UsageCount {
    let site = this.#sites.get(siteId)
    if (!site) this.#sites.set(siteId, (site = new Map()))
    let count = site.get(operation)
    if (!count) site.set(operation, (count = emptyUsage()))
    return count
  }

  async #write(sites: ReadonlyMap<string, SiteUsage>, hour: Date): Promise<void> {
    for (const [siteId, counts] of sites) {
      await this.#add(siteId, hour, counts).catch((error: unknown) => {
        // The site was deleted after the calls.
        if (hasCode(error, FOREIGN_KEY_VIOLATION)) return
        this.#deps.logger.warn({ siteId, err: error }, 'usage counts were lost')
      })
    }
  }

  async #add(siteId: string, hour: Date, counts: SiteUsage): Promise<void> {
    const prune = this.#pruned.get(siteId) !== hour.getTime()
    await this.#deps.database.withSite(siteId, async (tx) => {
      await addOperationUsage(tx, hour, counts)
      if (prune) await deleteUsageBefore(tx, new Date(hour.getTime() - RETENTION_MS))
    })
    this.#pruned.set(siteId, hour.getTime())
  }
}
