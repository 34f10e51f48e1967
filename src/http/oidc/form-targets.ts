const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/

/** A client's redirect URI as a source of `form-action`: its origin, or its scheme when it has no origin. */
export function formTargetOf(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri)
  return PLAIN_ORIGIN.test(origin) ? origin : protocol
}

/** The host of a client's redirect URI, for people to read. */
export function displayHost(redirectUri: string): string {
  const { hostname, protocol } = new URL(redirectUri)
  return protocol === 'https:' || protocol === 'http:' ? hostname : protocol.slice(0, -1)
}
