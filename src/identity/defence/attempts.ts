/** What is counted: `account` fails at a password or code, `address` is where tries come from, `mail` is mail on request. */
export type AttemptKind = 'account' | 'address' | 'mail'

export interface AttemptKey {
  readonly siteId: string
  readonly kind: AttemptKind
  /** Any text; hashed before it becomes part of a stored key. */
  readonly subject: string
}

/** Failures remembered for a while, in Redis when there is one (shared by all replicas), else in memory. */
export interface Attempts {
  /** Seconds until the next try is allowed; 0 when it is allowed now. */
  waitSeconds(key: AttemptKey): Promise<number>
  /** Counts one and says how long to wait from now on. */
  failed(key: AttemptKey): Promise<number>
  succeeded(key: AttemptKey): Promise<void>
}
