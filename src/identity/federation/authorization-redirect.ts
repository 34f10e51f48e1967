/** Where a browser is redirected to sign in with the provider. */
export interface AuthorizationRedirect {
  /** At the provider; or back at the client, with an error. */
  readonly location: string
  /** For a cookie that only this browser has: whoever comes back without it is not who left. */
  readonly binding?: LoginBinding
}

export interface LoginBinding {
  /** What the cookie is named for. */
  readonly loginId: string
  readonly token: string
  readonly expiresAt: Date
}

/** Cookies of the browser that is redirected. */
export interface BrowserCookies {
  /** Of its session at the pool. */
  readonly sessionToken: string | undefined
  /** Set when this browser itself asked to link. */
  readonly linkBinding: string | undefined
}
