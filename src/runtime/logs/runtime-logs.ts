import { LRUCache } from 'lru-cache'

import { AppError } from '#base/app-error.ts'
import { CoalescingQueue } from '#base/coalescing-queue.ts'
import { codeOf } from '#base/error-code.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { retry } from '#base/retry.ts'
import { type SiteWatcher, SiteWatchers } from '#base/site-watchers.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import type { LogLine } from '#platform/sandbox-host/sandbox.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SourceMaps } from '#runtime/source-maps/source-maps.ts'

import { LogBuffer } from './buffer.ts'
import { type LogFilter, type LogLevel, type LogRecord, type NewLogLine } from './model.ts'
import {
  deleteOldest,
  insertLines,
  lockLog,
  selectAfter,
  selectLastId,
  selectNewest,
} from './queries.ts'

const FLUSH_MS = 250
const WRITE_ATTEMPTS = 3
/** Sites whose lines are written at once: one that waits for another replica does not keep the others. */
const WRITES_AT_ONCE = 4
const RETENTION_MS = 7 * 24 * 3600 * 1000
const KEPT_LINES = 10_000
const PRUNE_BATCH = 5000
/** Lines of a site between two looks for what is too old or too many. */
const PRUNE_EVERY = 1000
/** Sites whose lines are counted for that; one that was forgotten is looked at with its next lines. */
const REMEMBERED_SITES = 10_000
const NO_ROOM =
  'The service has no room left on its disk: writes are refused with DiskFull and lines are not kept until its operator has made some'
const FOLLOW_BATCH = 200
const HEARTBEAT_MS = 15_000

export interface FailureLine {
  readonly siteId: string
  readonly operation: string
  readonly requestId: string
  readonly level: LogLevel
  readonly code: string
  readonly message: string
}

export interface PlatformLine {
  readonly siteId: string
  readonly level: LogLevel
  readonly message: string
}

/** What site code printed and what ended its calls. Lines wait in memory and are written in batches. */
export class RuntimeLogs implements AsyncDisposable {
  readonly #deps
  readonly #buffer = new LogBuffer()
  readonly #watchers = new SiteWatchers("this site's log")
  /** Sites whose lines are dropped, because the disk is full. */
  readonly #toldOfLoss = new Set<string>()
  readonly #sincePruned = new LRUCache<string, number>({ max: REMEMBERED_SITES })
  readonly #writes = new CoalescingQueue(WRITES_AT_ONCE, (siteId) => this.#writeSite(siteId))
  #timer: NodeJS.Timeout | undefined

  constructor(
    deps: Pick<PlatformServices, 'database' | 'notifications' | 'clock' | 'logger' | 'disk'> & {
      /** Takes the site's secrets out of what is kept. */
      redact(siteId: string, text: string): string
      /** Says of places in bundles where the code came from. */
      readonly sourceMaps: Pick<SourceMaps, 'locate'>
    },
  ) {
    this.#deps = deps
  }

  /** Receives lines that other replicas wrote. */
  listen(notifications: Notifications): Promise<void> {
    return notifications.listen('croft_log', {
      onMessage: ({ siteId }) => this.#watchers.wake(siteId),
      onGap: () => this.#watchers.wakeAll(),
    })
  }

  /** Never blocks and never throws: this is on the path of a call. */
  console(lines: readonly LogLine[]): void {
    for (const { siteId, ...line } of lines) {
      this.#add(siteId, { ...line, kind: 'console', fields: null })
    }
  }

  failure({ siteId, code, ...line }: FailureLine): void {
    this.#add(siteId, { ...line, at: this.#deps.clock.now(), kind: 'failure', fields: { code } })
  }

  /** A word of the runtime itself to the site's admins. */
  platform({ siteId, ...line }: PlatformLine): void {
    const about = { operation: null, requestId: null, fields: null }
    this.#add(siteId, { ...line, ...about, at: this.#deps.clock.now(), kind: 'platform' })
  }

  /** Newest first. What still waited in this process is written before. */
  async list(siteId: string, filter: LogFilter, page: PageRequest): Promise<PageRows<LogRecord>> {
    await this.#writes.add(siteId)
    const rows = await this.#deps.database.withSite(siteId, (tx) =>
      selectNewest(tx, filter, { limit: page.limit + 1, before: page.after }),
    )
    return pageRows(rows, page.limit, ({ logId }) => logId)
  }

  /**
   * Batches of lines as they are written, oldest first; an empty batch is a heartbeat. Starts after line `after`, at
   * `filter.since`, or now. Ends with the signal and when the service drains. At most 20 per site.
   */
  follow(
    siteId: string,
    filter: LogFilter,
    options: { readonly after: string | undefined; readonly signal: AbortSignal },
  ): AsyncGenerator<LogRecord[], void, undefined> {
    // Here and not in the generator: one stream too many is refused at once.
    const watcher = this.#watchers.watch(siteId, options.signal)
    return this.#batches(watcher, siteId, filter, options.after)
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#writes.addAll(this.#buffer.sites())
  }

  /** Ends all streams; the last lines are written. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.endStreams()
    await this.flush()
  }

  /** At drain: a stream would hold the server open for ever. */
  endStreams(): void {
    this.#watchers.close()
  }

  async *#batches(
    watcher: SiteWatcher,
    siteId: string,
    filter: LogFilter,
    start: string | undefined,
  ): AsyncGenerator<LogRecord[], void, undefined> {
    try {
      let after = start ?? (await this.#start(siteId, filter))
      while (!watcher.signal.aborted) {
        watcher.reset()
        const from = after
        const batch = await this.#deps.database.withSite(siteId, (tx) =>
          selectAfter(tx, filter, { limit: FOLLOW_BATCH, after: from }),
        )
        after = batch.at(-1)?.logId ?? after
        if (batch.length > 0) yield batch
        if (batch.length === FOLLOW_BATCH) continue
        if ((await watcher.wait(HEARTBEAT_MS)) === 'silence') yield []
      }
    } finally {
      watcher.leave()
    }
  }

  #add(siteId: string, line: NewLogLine): void {
    const message = this.#deps.redact(siteId, line.message)
    const full = this.#buffer.add(siteId, { ...line, message })
    if (full) void this.#writes.add(siteId)
    else this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS)
  }

  async #writeSite(siteId: string): Promise<void> {
    const taken = this.#buffer.take(siteId, this.#deps.clock.now())
    if (taken.length === 0) return
    const lines = this.#hasRoom(siteId) ? await this.#located(siteId, taken) : this.#lost(siteId)
    if (lines.length === 0) return
    // A deployment or a failover may take the database away for a moment.
    await retry(() => this.#insert(siteId, lines), {
      attempts: WRITE_ATTEMPTS,
      isRetryable: (error) => !isRefusal(error),
      delayMs: (attempt) => attempt * 500,
    }).catch((error: unknown) => {
      this.#deps.logger.warn({ siteId, lines: lines.length, err: error }, 'log lines were lost')
    })
  }

  #hasRoom(siteId: string): boolean {
    if (this.#deps.disk.isFull('database')) return false
    this.#toldOfLoss.delete(siteId)
    return true
  }

  /** The site's admins are notified once. */
  #lost(siteId: string): NewLogLine[] {
    if (this.#toldOfLoss.has(siteId)) return []
    this.#toldOfLoss.add(siteId)
    const about = { operation: null, requestId: null, fields: { code: 'DiskFull' } }
    const at = this.#deps.clock.now()
    return [{ ...about, at, kind: 'platform', level: 'warn', message: NO_ROOM }]
  }

  async #located(siteId: string, lines: readonly NewLogLine[]): Promise<NewLogLine[]> {
    const located: NewLogLine[] = []
    for (const line of lines) {
      const message = await this.#deps.sourceMaps.locate(siteId, line.message)
      located.push(message === line.message ? line : { ...line, message })
    }
    return located
  }

  async #insert(siteId: string, lines: readonly NewLogLine[]): Promise<void> {
    const count = (this.#sincePruned.get(siteId) ?? PRUNE_EVERY) + lines.length
    const prune = count >= PRUNE_EVERY
    await this.#deps.database.withSite(siteId, async (tx) => {
      await lockLog(tx)
      const upTo = await insertLines(tx, lines)
      await this.#deps.notifications.notify(tx, 'croft_log', { siteId, upTo })
      if (prune) await deleteOldest(tx, this.#bounds())
    })
    this.#sincePruned.set(siteId, prune ? 0 : count)
  }

  #bounds() {
    const before = new Date(this.#deps.clock.now().getTime() - RETENTION_MS)
    return { before, kept: KEPT_LINES, batch: PRUNE_BATCH }
  }

  async #start(siteId: string, filter: LogFilter): Promise<string> {
    if (filter.since !== undefined) return '0'
    await this.#writes.add(siteId)
    return this.#deps.database.withSite(siteId, selectLastId)
  }
}

/** Postgres refused the rows themselves (a site that is gone, a value it cannot keep): trying again changes nothing. */
function isRefusal(error: unknown): boolean {
  if (error instanceof AppError) return true
  return /^2[23]/.test(codeOf(error) ?? '')
}
