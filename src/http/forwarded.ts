import { isIP } from 'node:net'

/** What a proxy says of a request that it hands on. The last of each is what the proxy that is nearest wrote itself. */
export interface Forwarded {
  /** The address that each proxy on the way had it from, as they wrote it. */
  readonly hops: readonly string[]
  /** The host that was asked for, as the nearest proxy saw it. */
  readonly host: string | undefined
}

/** A part between commas or semicolons, which may be within quotes. */
const ELEMENT = /(?:[^,"]|"(?:[^"\\]|\\.)*")+/g
const PAIR = /(?:[^;"]|"(?:[^"\\]|\\.)*")+/g
const WITH_PORT = /^(?:\[(?<six>[^\]]*)\]|(?<four>[^:]*))(?::\d{1,5})?$/
const MAPPED = /^::ffff:(?=\d+\.)/i

/**
 * `X-Forwarded-For` and `-Host`, or `Forwarded` (RFC 7239) where there are neither: a proxy that writes one of them passes on
 * what a client wrote into the other.
 */
export function forwardedOf(headers: Pick<Headers, 'get'>): Forwarded {
  const [addresses, hosts] = [headers.get('x-forwarded-for'), headers.get('x-forwarded-host')]
  if (addresses === null && hosts === null) return standardOf(headers.get('forwarded') ?? '')
  return { hops: listed(addresses ?? ''), host: listed(hosts ?? '').at(-1) }
}

function standardOf(header: string): Forwarded {
  const elements = (header.match(ELEMENT) ?? []).map(parametersOf)
  return {
    hops: elements.map((parameters) => parameters.get('for') ?? ''),
    host: elements.at(-1)?.get('host'),
  }
}

function parametersOf(element: string): ReadonlyMap<string, string> {
  const pairs = (element.match(PAIR) ?? []).map((pair): [string, string] => {
    const at = pair.indexOf('=')
    const value = pair.slice(at + 1).trim()
    const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"')
    const plain = isQuoted ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value
    return [at < 0 ? '' : pair.slice(0, at).trim().toLowerCase(), plain]
  })
  return new Map(pairs)
}

/** The address in the words of a proxy, without its port; undefined where there is none, as for `unknown`. */
export function addressIn(hop: string): string | undefined {
  const { six, four } = WITH_PORT.exec(hop)?.groups ?? {}
  const address = (isIP(hop) > 0 ? hop : (six ?? four ?? ''))
    .replace(/%.*$/, '')
    .replace(MAPPED, '')
  return isIP(address) > 0 ? address : undefined
}

const listed = (header: string): string[] =>
  header
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
