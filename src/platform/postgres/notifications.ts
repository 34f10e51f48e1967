import { setTimeout as delay } from 'node:timers/promises'

import { sql as kyselySql } from 'kysely'

import { backoffMs } from '#base/backoff.ts'
import type { Logger } from '#platform/log/logger.ts'
import { SchedulingDelay } from '#platform/scheduling-delay.ts'

import type { ConnectionWatch } from './connection-watch.ts'
import type { Tx } from './database.ts'
import { ListeningConnection } from './listening-connection.ts'

const MAX_BYTES = 7999
const RECONNECT_MAX_MS = 2000

/** How often the connection is checked. */
const BEAT_MS = 500

/** How long it may take to answer, and to be opened; more where timers run late. */
const ANSWER = { calmMs: 1500, steps: 8 }
const OPENING = { calmMs: 1500, steps: 40 }

/**
 * How long after a sign of life memory is trusted: what is older than that may have been changed without a notification. With
 * `SUPERSEDED_MS` it makes less than two seconds.
 */
const TRUSTED_MS = 1500

/** How long what a message has superseded may serve on while what is newer is read. */
export const SUPERSEDED_MS = 400

/** How long what was read without a sign of life is trusted. */
const CHECKED_MS = 1000

/** What the features above use of them. */
export type Notifications = Pick<PostgresNotifications, 'notify' | 'listen' | 'confirm'>

export interface NotificationHandlers<Message> {
  onMessage(message: Message): void
  /**
   * Nothing proves that the channel lives: what it kept true in memory is to be read again before it is used. Once a second
   * at most, and once when the channel is back.
   */
  onDoubt?(): void
  /** The channel is back after messages may have been missed. */
  onGap?(): void
}

/** The channels of the service and what they say. At most 8000 bytes of JSON each (a Postgres limit). */
export interface NotificationChannels {
  /** A site's directory entry changed or went away. */
  croft_site: { readonly siteId: string; readonly domains: readonly string[] }
  /** Another deployment's public files are current. */
  croft_static: { readonly siteId: string }
  /** A new revision is current. */
  croft_revision: { readonly siteId: string; readonly revision: number }
  /** Cached answers of an operation were dropped. */
  croft_cache: { readonly siteId: string; readonly operation: string; readonly version: string }
  /** A pool's keys changed; with `sub`, only that user's standing did. */
  croft_tokens: { readonly siteId: string; readonly sub?: string }
  /** New log lines of a site, for those who watch live. */
  croft_log: { readonly siteId: string; readonly upTo: string }
  /** A message of a mailbox came, went or changed, or who may read it did. */
  croft_mail: { readonly siteId: string; readonly mailboxId: string }
  /** A site's mail addresses, or where they lead, may have changed. */
  croft_mail_addresses: { readonly siteId: string }
  /** Jobs of a site may be due sooner than before. */
  croft_jobs_due: { readonly siteId: string }
  /** A job was put on a queue. */
  croft_queue: { readonly queue: string }
}

type Channel = keyof NotificationChannels

/**
 * Wake-ups between replicas over LISTEN/NOTIFY. A hint, never the truth: a receiver reads the tables. One connection of its own
 * for all channels; it comes back by itself, however long Postgres was away. It is checked twice a second, so that memory which
 * rests on it is never more than two seconds behind.
 */
export class PostgresNotifications implements AsyncDisposable {
  readonly #deps
  readonly #listeners = new Map<string, NotificationHandlers<unknown>[]>()
  readonly #closing = new AbortController()
  readonly #heartbeat: NodeJS.Timeout
  readonly #delay = new SchedulingDelay(BEAT_MS)
  #connection: ListeningConnection
  #trustedUntilMs = 0
  #reconnecting: Promise<void> | undefined

  constructor(deps: {
    readonly url: string
    readonly role: string | undefined
    readonly log: Logger
    /** Detects sooner that the connection does not answer. */
    readonly watch?: Pick<ConnectionWatch, 'add' | 'delete'>
  }) {
    this.#deps = deps
    this.#connection = this.#connect()
    this.#heartbeat = setInterval(() => this.#look(), BEAT_MS)
    this.#heartbeat.unref()
  }

  /** Sent with the transaction's commit. */
  async notify<Name extends Channel>(
    tx: Tx,
    channel: Name,
    message: NotificationChannels[Name],
  ): Promise<void> {
    const payload = JSON.stringify(message)
    if (Buffer.byteLength(payload) > MAX_BYTES) {
      throw new Error(`A notification on "${channel}" is over ${MAX_BYTES} bytes`)
    }
    await kyselySql`select pg_notify(${channel}, ${payload})`.execute(tx.db)
  }

  async listen<Name extends Channel>(
    channel: Name,
    handlers: NotificationHandlers<NotificationChannels[Name]>,
  ): Promise<void> {
    const listeners = this.#listeners.get(channel) ?? []
    // Only `notify` writes to our channels, and it is typed by channel.
    listeners.push(handlers as NotificationHandlers<unknown>)
    this.#listeners.set(channel, listeners)
    if (this.#connection.isLost) this.#lost()
    await this.#reconnecting
    await this.#connection.listen(channel)
  }

  /**
   * To be called before memory is used that notifications keep true; it compares two numbers. What is found in memory
   * afterwards was true less than two seconds ago.
   */
  confirm(): void {
    if (performance.now() >= this.#trustedUntilMs) this.#doubt()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#heartbeat)
    this.#deps.watch?.delete(this.#connection)
    await this.#connection.close()
    await this.#reconnecting
  }

  #connect(): ListeningConnection {
    const { url, role, watch } = this.#deps
    const connection = new ListeningConnection({
      url,
      role,
      onNotify: (channel, payload) => this.#deliver(channel, payload),
      onLost: (lost) => {
        watch?.delete(lost)
        if (lost === this.#connection) this.#lost()
      },
    })
    watch?.add(connection)
    return connection
  }

  #deliver(channel: string, payload: string): void {
    try {
      const message: unknown = JSON.parse(payload)
      for (const listener of this.#listeners.get(channel) ?? []) listener.onMessage(message)
    } catch (error) {
      this.#deps.log.error({ err: error, channel }, 'notification not handled')
    }
  }

  /** For those who do not ask, and so that no statement is sent without need. */
  #look(): void {
    this.#delay.tick(performance.now())
    this.confirm()
    if (this.#listeners.size === 0 || this.#reconnecting !== undefined) return
    const { silentMs } = this.#connection
    if (silentMs === 0) void this.#beat(this.#connection)
    else if (silentMs > this.#delay.patienceMs(ANSWER)) this.#connection.giveUp()
  }

  async #beat(connection: ListeningConnection): Promise<void> {
    try {
      const sentMs = await connection.beat()
      this.#trustedUntilMs = Math.max(this.#trustedUntilMs, sentMs + TRUSTED_MS)
    } catch {
      // The connection reports its own loss.
      connection.giveUp()
    }
  }

  #lost(): void {
    this.#trustedUntilMs = 0
    if (this.#closing.signal.aborted || this.#listeners.size === 0) return
    this.#reconnecting ??= this.#listenAgain().finally(() => {
      this.#reconnecting = undefined
    })
  }

  async #listenAgain(): Promise<void> {
    const { log } = this.#deps
    const { signal } = this.#closing
    const lostMs = performance.now()
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await this.#startOver()
        const deafMs = Math.round(performance.now() - lostMs)
        log.info({ deafMs }, 'notifications are received again')
        return
      } catch (error) {
        if (attempt === 1) log.warn({ err: error }, 'notifications lost, reconnecting')
        await delay(backoffMs(attempt, { maxMs: RECONNECT_MAX_MS }), undefined, { signal }).catch(
          () => {},
        )
      }
    }
  }

  async #startOver(): Promise<void> {
    const connection = this.#connect()
    this.#connection = connection
    const late = setTimeout(() => connection.giveUp(), this.#delay.patienceMs(OPENING))
    try {
      for (const channel of this.#listeners.keys()) await connection.listen(channel)
    } catch (error) {
      connection.giveUp()
      throw error
    } finally {
      clearTimeout(late)
    }
    this.#doubt()
    this.#each('onGap')
  }

  #doubt(): void {
    this.#trustedUntilMs = performance.now() + CHECKED_MS
    this.#each('onDoubt')
  }

  #each(handler: 'onDoubt' | 'onGap'): void {
    for (const listeners of this.#listeners.values()) {
      for (const listener of listeners) {
        try {
          listener[handler]?.()
        } catch (error) {
          this.#deps.log.error({ err: error, handler }, 'notification gap not handled')
        }
      }
    }
  }
}
