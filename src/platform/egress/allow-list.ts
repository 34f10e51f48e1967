/** Ports that the Fetch standard refuses, so that HTTP cannot be made to speak another protocol to them. */
const BAD_PORTS = new Set(
  (
    '1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 ' +
    '123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 ' +
    '990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  )
    .split(' ')
    .map(Number),
)

/** Why a URL is refused before anything is resolved, or undefined. */
export function urlFault(url: URL, allow: readonly string[]): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return `"${url.protocol}" is not a scheme that fetch can use: use https: or http:`
  }
  if (url.username !== '' || url.password !== '') {
    return 'the URL carries credentials: send an Authorization header instead'
  }
  if (BAD_PORTS.has(portOf(url))) return `port ${portOf(url)} is not for HTTP`
  if (!allow.some((entry) => matches(entry, url))) {
    return `the host "${url.host}" is not on the site's egress allow-list`
  }
  return undefined
}

export const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

/** `host`, `host:port`, `*.domain` (any depth, not the domain itself), or `*`. */
function matches(entry: string, url: URL): boolean {
  if (entry === '*') return true
  const { host, port } = splitEntry(entry.toLowerCase())
  if (port !== undefined && port !== portOf(url)) return false
  const name = url.hostname.replace(/\.$/, '')
  return host.startsWith('*.') ? name.endsWith(host.slice(1)) : name === host
}

function splitEntry(entry: string): { host: string; port: number | undefined } {
  const match = /^(.*?)(?::(\d+))?$/.exec(entry)
  if (entry.startsWith('[') && !/\]:\d+$/.test(entry)) return { host: entry, port: undefined }
  return {
    host: match?.[1] ?? entry,
    port: match?.[2] === undefined ? undefined : Number(match[2]),
  }
}
