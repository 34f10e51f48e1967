const MAX_LENGTH = 2048
const PRINTABLE = /^[\x21-\x7e]+$/
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

type Check = readonly [fails: (uri: string, url: URL, ownOrigin: string) => boolean, fault: string]

/** What a client may have registered as a place to return to; read from top to bottom (RFC 6749 3.1.2, RFC 8252 7 and 8). */
const CHECKS: readonly Check[] = [
  [(uri) => uri.includes('#'), 'must have no fragment'],
  [(_uri, url) => url.username + url.password !== '', 'must not carry a user name or password'],
  [(_uri, url) => url.host.includes('*'), 'must name one host: there are no wildcards'],
  [
    (_uri, url, ownOrigin) => !isSafe(url, ownOrigin),
    'must be https, http on localhost, or an app’s own scheme such as com.example.app:/callback',
  ],
]

/** Why a client cannot be sent back there; undefined when it can. It is compared character by character later. */
export function uriFault(uri: string, ownOrigin: string): string | undefined {
  if (uri.length > MAX_LENGTH || !PRINTABLE.test(uri)) {
    return `must be at most ${MAX_LENGTH} printable ASCII characters, without blanks`
  }
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (!url) return 'must be an absolute URI such as https://app.example/callback'
  const failed = CHECKS.find(([fails]) => fails(uri, url, ownOrigin))
  if (failed) return failed[1]
  // Two spellings of one place would match only one of them, and browsers would send the other.
  return url.href === uri || url.href === `${uri}/` ? undefined : `must be spelt "${url.href}"`
}

/** Whether it leads to the visitor's own machine. */
export const isLoopback = (uri: string): boolean =>
  URL.canParse(uri) && LOOPBACK.includes(new URL(uri).hostname)

function isSafe({ protocol, hostname, origin }: URL, ownOrigin: string): boolean {
  if (protocol === 'https:') return hostname !== ''
  if (protocol === 'http:') return LOOPBACK.includes(hostname) || origin === ownOrigin
  // A private-use scheme is a reversed domain name; that leaves out javascript, data, file and their kind.
  return protocol.includes('.')
}
