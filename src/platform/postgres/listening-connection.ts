import { type SqlClient, createClient, isAnswer } from './client.ts'
import type { StatementInFlight, WatchedConnection } from './connection-watch.ts'
import { SentStatement } from './pooled-connection.ts'

/** The driver's own limit; the caller that opens one has less patience. */
const CONNECT_SECONDS = 60

export interface ListeningConnectionOptions {
  readonly url: string
  readonly role: string | undefined
  readonly onNotify: (channel: string, payload: string) => void
  /** Called once, when notifications may have been missed on this connection: it is of no use any more. */
  readonly onLost: (connection: ListeningConnection) => void
}

/**
 * One session that receives notifications, until it is lost. The driver would open the next one silently, which listens to
 * nothing.
 */
export class ListeningConnection implements WatchedConnection {
  readonly inFlight = new Set<StatementInFlight>()
  readonly #client: SqlClient
  readonly #onLost: (connection: ListeningConnection) => void
  #lastPid: number | undefined
  #answeredMs = -Infinity
  #isLost = false

  constructor({ url, role, onNotify, onLost }: ListeningConnectionOptions) {
    this.#onLost = onLost
    this.#client = createClient({
      url,
      role,
      max: 1,
      maxLifetimeSeconds: null,
      connectTimeoutSeconds: CONNECT_SECONDS,
      onNotify: (channel, payload) => {
        this.#answeredMs = performance.now()
        onNotify(channel, payload)
      },
      onClose: () => this.#lose(),
    })
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get lastPid(): number | undefined {
    return this.#lastPid
  }

  get answeredMs(): number {
    return this.#answeredMs
  }

  /** How long the oldest statement has been without an answer. */
  get silentMs(): number {
    const [oldest] = this.inFlight
    return oldest === undefined ? 0 : performance.now() - oldest.sinceMs
  }

  listen(channel: string): Promise<void> {
    return this.#run(`listen ${channel}`).then(() => {})
  }

  /**
   * Gives a moment: all notifications before it have been received by now. The server writes what it has to tell a session before
   * it says that it is ready for the next statement.
   */
  beat(): Promise<number> {
    return this.#run('select 1')
  }

  giveUp(): void {
    this.#lose()
    // The driver rejects what is in flight.
    this.#client.end({ timeout: 0 }).catch(() => {})
  }

  expire(): void {
    this.giveUp()
  }

  close(): Promise<void> {
    this.#isLost = true
    return this.#client.end({ timeout: 1 })
  }

  /** A simple query: one without parameters ends with the server's word that it is ready. */
  async #run(text: string): Promise<number> {
    const query = this.#client.unsafe(text)
    const statement = new SentStatement(query)
    this.inFlight.add(statement)
    try {
      await query
      this.#lastPid = statement.pid
      this.#answeredMs = performance.now()
    } catch (error) {
      if (isAnswer(error)) this.#answeredMs = performance.now()
      throw error
    } finally {
      this.inFlight.delete(statement)
    }
    if (this.#isLost) throw new Error('The connection was lost while it listened')
    return statement.sinceMs
  }

  #lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#onLost(this)
  }
}
