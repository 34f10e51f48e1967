const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/

/** Where a client's redirect URI leads, as a source of `form-action`: its origin, or its scheme where there is none. */
export function formTargetOf(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri)
  return PLAIN_ORIGIN.test(origin) ? origin : protocol
}

/** Where a client's redirect URI leads, as people read it. */
export function displayHost(redirectUri: string): string {
  const { hostname, protocol } = new URL(redirectUri)
  return protocol === 'https:' || protocol === 'http:' ? hostname : protocol.slice(0, -1)
}
