type HeaderPairs = readonly (readonly [string, string])[]

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/
const MAX_HEADERS = 100
const MAX_CHARACTERS = 64 * 1024
/** Ours to set, or meaningful to the connection only. */
const OURS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const BODY_HEADERS = new Set([
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
])
const CREDENTIALS = new Set(['authorization', 'cookie'])

/** Why a method is refused, or undefined. */
export function methodFault(method: string): string | undefined {
  if (!TOKEN.test(method)) return 'the method is not a token'
  return /^(?:connect|trace|track)$/i.test(method) ? `the method "${method}" is refused` : undefined
}

/** The headers as they go out. Throws for what no header can be; drops what is ours to set. */
export function outgoingHeaders(pairs: HeaderPairs): Map<string, string[]> {
  const headers = new Map<string, string[]>()
  let characters = 0
  for (const [rawName, value] of pairs) {
    const name = rawName.toLowerCase()
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    if (!TOKEN.test(name) || /[\0-\x08\x0a-\x1f\x7f]|[^\0-\xff]/.test(value)) {
      throw new Error(`the request header "${name.slice(0, 50)}" is not a valid header`)
    }
    characters += name.length + value.length
    if (OURS.has(name) || name.startsWith('proxy-')) continue
    headers.set(name, [...(headers.get(name) ?? []), value])
  }
  if (pairs.length > MAX_HEADERS || characters > MAX_CHARACTERS) {
    throw new Error(`a request has at most ${MAX_HEADERS} headers of ${MAX_CHARACTERS} characters`)
  }
  return headers
}

/** What stays of the headers on the way to another origin, or when the body is dropped (Fetch, HTTP-redirect fetch). */
export function redirectedHeaders(
  pairs: HeaderPairs,
  change: { readonly crossOrigin: boolean; readonly bodyDropped: boolean },
): HeaderPairs {
  return pairs.filter(([name]) => {
    const lower = name.toLowerCase()
    if (change.crossOrigin && CREDENTIALS.has(lower)) return false
    return !(change.bodyDropped && BODY_HEADERS.has(lower))
  })
}
