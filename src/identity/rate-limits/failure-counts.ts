/**
 * What is counted. `account` fails at a password and `code` at a mailed code, both as tried from one network; `…-anywhere` is
 * the same from all networks together. `address` is a network where such tries come from. `mail` is mail on request to an
 * account's address, likewise, and `mail-address` that of a network.
 */
export type CounterKind =
  | 'account'
  | 'account-anywhere'
  | 'code'
  | 'code-anywhere'
  | 'address'
  | 'mail'
  | 'mail-anywhere'
  | 'mail-address'

export interface FailureKey {
  readonly siteId: string
  readonly kind: CounterKind
  /** Any text; hashed before it becomes part of a stored key. */
  readonly subject: string
}

/** What came of a try that asked to begin. */
export interface CountedAttempt {
  /** Tries that are remembered, this one included. */
  readonly count: number
  /** 0 when it may go on. */
  readonly waitSeconds: number
  /** Whether it is the first that was turned away since the last one that was let in. */
  readonly firstRefusal: boolean
}

/** Failures remembered for a while, in Redis when there is one (shared by all replicas), else in memory. */
export interface FailureCounts {
  /**
   * Counts a try as failed before its outcome is known, unless it has to wait: of a thousand guesses at once no more get
   * through than one after another.
   */
  begin(key: FailureKey): Promise<CountedAttempt>
  /** Takes back one that `begin` counted. */
  takeBack(key: FailureKey): Promise<void>
  /** Seconds until the next try is allowed; 0 when it is allowed now. */
  waitSeconds(key: FailureKey): Promise<number>
  /** Counts one and says how long to wait from now on. */
  add(key: FailureKey): Promise<number>
  /** Forgets every failure. */
  clear(key: FailureKey): Promise<void>
}
