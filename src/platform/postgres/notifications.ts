import { setTimeout as delay } from 'node:timers/promises'

import { sql as kyselySql } from 'kysely'

import { backoffMs } from '#base/backoff.ts'
import type { Logger } from '#platform/log/logger.ts'

import { type SqlClient, createClient } from './client.ts'
import type { Tx } from './database.ts'

const MAX_BYTES = 7999
const RECONNECT_MAX_MS = 5000
/** How often a silent connection is asked whether it still is one, and how long it may take to answer. */
const HEARTBEAT_MS = 15_000
const ANSWER_MS = 5000

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
  /** A job was put on a queue. */
  croft_queue: { readonly queue: string }
}

export type Channel = keyof NotificationChannels

/** What the features above use of them. */
export type Notifications = Pick<PostgresNotifications, 'notify' | 'listen'>

interface Listener {
  onMessage(message: unknown): void
  onGap(): void
}

/**
 * Wake-ups between replicas over LISTEN/NOTIFY. A hint, never the truth: whoever hears one reads the tables. One connection of
 * its own for all channels; it comes back by itself, however long Postgres was away.
 */
export class PostgresNotifications implements AsyncDisposable {
  readonly #connect: () => SqlClient
  readonly #log: Logger
  readonly #listeners = new Map<string, Listener[]>()
  readonly #closing = new AbortController()
  readonly #heartbeat: NodeJS.Timeout
  #client: SqlClient
  #lost = false
  #reconnecting: Promise<void> | undefined

  constructor(deps: {
    readonly url: string
    readonly role: string | undefined
    readonly log: Logger
  }) {
    this.#log = deps.log
    this.#connect = () => {
      const client = createClient({
        url: deps.url,
        role: deps.role,
        max: 1,
        maxLifetimeSeconds: null,
        onNotify: (channel, payload) => this.#deliver(channel, payload),
        onClose: () => {
          if (client !== this.#client) return
          this.#lost = true
          this.#reconnect()
        },
      })
      return client
    }
    this.#client = this.#connect()
    this.#heartbeat = setInterval(() => void this.#beat(), HEARTBEAT_MS)
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

  /** `onGap` runs after each reconnect: messages may have been missed. */
  async listen<Name extends Channel>(
    channel: Name,
    handlers: { onMessage(message: NotificationChannels[Name]): void; onGap(): void },
  ): Promise<void> {
    const listeners = this.#listeners.get(channel) ?? []
    // Only `notify` writes to our channels, and it is typed by channel.
    listeners.push(handlers as Listener)
    this.#listeners.set(channel, listeners)
    await this.#client.unsafe(`listen ${channel}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#heartbeat)
    await this.#client.end({ timeout: 1 })
    await this.#reconnecting
  }

  #deliver(channel: string, payload: string): void {
    try {
      const message: unknown = JSON.parse(payload)
      for (const listener of this.#listeners.get(channel) ?? []) listener.onMessage(message)
    } catch (error) {
      this.#log.error({ err: error, channel }, 'notification not handled')
    }
  }

  #reconnect(): void {
    if (this.#closing.signal.aborted || this.#listeners.size === 0) return
    this.#reconnecting ??= this.#listenAgain().finally(() => {
      this.#reconnecting = undefined
    })
  }

  async #listenAgain(): Promise<void> {
    const { signal } = this.#closing
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        this.#lost = false
        await this.#startOver()
        if (this.#lost) continue
        this.#announceGap()
        return
      } catch (error) {
        if (attempt === 1) this.#log.warn({ err: error }, 'notifications lost, reconnecting')
        await delay(backoffMs(attempt, { maxMs: RECONNECT_MAX_MS }), undefined, { signal }).catch(
          () => {},
        )
      }
    }
  }

  /** Takes a new client: the old one would first write what it still had to write when its connection was lost. */
  async #startOver(): Promise<void> {
    const old = this.#client
    this.#client = this.#connect()
    await old.end({ timeout: 0 })
    for (const channel of this.#listeners.keys()) await this.#client.unsafe(`listen ${channel}`)
  }

  /** A connection that a firewall forgot says nothing and is never closed. */
  async #beat(): Promise<void> {
    if (this.#listeners.size === 0 || this.#reconnecting) return
    const answered = this.#client.unsafe('select 1').then(
      () => true,
      () => false,
    )
    const late = delay(ANSWER_MS, false, { ref: false })
    if (!(await Promise.race([answered, late]))) this.#reconnect()
  }

  #announceGap(): void {
    for (const listeners of this.#listeners.values()) {
      for (const listener of listeners) {
        try {
          listener.onGap()
        } catch (error) {
          this.#log.error({ err: error }, 'notification gap not handled')
        }
      }
    }
  }
}
