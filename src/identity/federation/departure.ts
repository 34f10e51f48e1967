/** The browser's way to the provider. */
export interface Departure {
  /** At the provider; or back at the client, with an error, when the provider cannot be reached. */
  readonly location: string
  /** For a cookie that only this browser has: whoever comes back without it is not who left. */
  readonly binding?: {
    readonly visitId: string
    readonly token: string
    readonly expiresAt: Date
  }
}

/** What the browser brings along when it leaves. */
export interface Leaving {
  /** Of its session at the pool. */
  readonly sessionToken: string | undefined
  /** Set when this browser itself asked to link. */
  readonly linkBinding: string | undefined
}
