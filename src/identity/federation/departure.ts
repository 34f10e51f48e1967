/** The browser's way to the provider. */
export interface Departure {
  /** At the provider; or back at the client, with an error. */
  readonly location: string
  /** For a cookie that only this browser has: whoever comes back without it is not who left. */
  readonly binding?: VisitBinding
}

export interface VisitBinding {
  /** What the cookie is named for. */
  readonly visitId: string
  readonly token: string
  readonly expiresAt: Date
}

/** What the browser brings along when it leaves. */
export interface Leaving {
  /** Of its session at the pool. */
  readonly sessionToken: string | undefined
  /** Set when this browser itself asked to link. */
  readonly linkBinding: string | undefined
}
