import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'

import { urlFault } from './allow-list.ts'
import type { Egress, EgressPolicy, EgressRequest, EgressResponse } from './egress.ts'
import { type HttpResponse, sendHttpRequest } from './http-exchange.ts'
import { isPublicAddress } from './public-address.ts'

const MAX_REDIRECTS = 5

/** Addresses of one name that are tried, in the resolver's order. */
const MAX_ADDRESSES = 4

/** With these codes no connection was made, so nothing was sent and the next address may be tried. */
const UNREACHED = [
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
]
const REDIRECTS = new Set([301, 302, 303, 307, 308])

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

interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: EgressRequest['headers']
  readonly body: Uint8Array | undefined
}

type HeaderPairs = readonly (readonly [string, string])[]

/** HTTP to the public internet. Every hop is checked again, and the connection goes to the very address that was checked. */
export class HttpEgress implements Egress {
  readonly #resolve: (hostname: string) => Promise<readonly string[]>
  readonly #isPublic: (address: string) => boolean
  readonly #ca: string | undefined

  constructor(
    deps: {
      /** Every address of a name. */
      readonly resolve?: (hostname: string) => Promise<readonly string[]>
      readonly isPublic?: (address: string) => boolean
      /** PEM; certificates that count beside the system's. */
      readonly ca?: string
    } = {},
  ) {
    this.#resolve = deps.resolve ?? resolveAll
    this.#isPublic = deps.isPublic ?? isPublicAddress
    this.#ca = deps.ca
  }

  async fetch(
    request: EgressRequest,
    policy: EgressPolicy,
    signal: AbortSignal,
  ): Promise<EgressResponse> {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(policy.timeoutMs)])
    try {
      return await this.#follow(request, policy, ended)
    } catch (error) {
      throw explained(error, ended, policy)
    }
  }

  async #follow(
    request: EgressRequest,
    policy: EgressPolicy,
    signal: AbortSignal,
  ): Promise<EgressResponse> {
    const fault = methodFault(request.method)
    if (fault !== undefined) throw new Error(fault)
    let hop = firstHop(request)
    for (let redirects = 0; ; redirects += 1) {
      const answer = await this.#hop(hop, policy, signal)
      const next = nextHop(hop, answer)
      if (!next || request.redirect === 'manual') {
        const { heldBytes: _, ...response } = answer
        return { ...response, url: hop.url.href, redirected: redirects > 0 }
      }
      if (request.redirect === 'error')
        throw new Error(`"${hop.url.host}" answered with a redirect`)
      if (redirects === MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects`)
      policy.memory?.giveBack(answer.heldBytes)
      hop = next
    }
  }

  async #hop(hop: Hop, policy: EgressPolicy, signal: AbortSignal): Promise<HttpResponse> {
    const fault = urlFault(hop.url, policy.allow)
    if (fault !== undefined) throw new Error(fault)
    const addresses = await Promise.race([this.#addressesOf(hop.url), whenAborted(signal)])
    const headers = outgoingHeaders(hop.headers)
    for (const [index, address] of addresses.entries()) {
      signal.throwIfAborted()
      try {
        return await sendHttpRequest({
          ...hop,
          address,
          headers,
          maxBytes: policy.maxResponseBytes,
          memory: policy.memory,
          signal,
          ...(this.#ca === undefined ? {} : { ca: this.#ca }),
        })
      } catch (error) {
        if (index === addresses.length - 1 || !isUnreached(error)) throw error
      }
    }
    throw new Error(`"${hop.url.hostname}" has no address`)
  }

  /** One private address among several is enough to refuse the name: which one is used must not be a matter of luck. */
  async #addressesOf(url: URL): Promise<readonly string[]> {
    const name = url.hostname.replace(/^\[|\]$/g, '')
    const addresses = isIP(name) === 0 ? await this.#resolve(name) : [name]
    if (!addresses.every((address) => this.#isPublic(address))) {
      throw new Error(`"${name}" is not an address of the public internet`)
    }
    return addresses.slice(0, MAX_ADDRESSES)
  }
}

/** A resolver cannot be stopped: its answer is not waited for. */
const whenAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
  })

const isUnreached = (error: unknown): boolean => hasCode(error, ...UNREACHED)

async function resolveAll(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname, { all: true }).catch(() => [])
  if (found.length === 0) throw new Error(`"${hostname}" cannot be resolved`)
  return found.map(({ address }) => address)
}

function firstHop(request: EgressRequest): Hop {
  if (!URL.canParse(request.url)) throw new Error('the URL cannot be parsed')
  return {
    url: new URL(request.url),
    method: normalMethod(request.method),
    headers: request.headers,
    body: request.bodyBase64 === undefined ? undefined : Buffer.from(request.bodyBase64, 'base64'),
  }
}

/** Writes the common methods in capitals and leaves any other as it is, as the Fetch standard does. */
const normalMethod = (method: string): string =>
  /^(?:delete|get|head|options|post|put)$/i.test(method) ? method.toUpperCase() : method

function nextHop(hop: Hop, answer: HttpResponse): Hop | undefined {
  const location = answer.headers.find(([name]) => name === 'location')?.[1]
  if (!REDIRECTS.has(answer.status) || location === undefined) return undefined
  if (!URL.canParse(location, hop.url.href)) throw new Error('a redirect leads to no URL')
  const url = new URL(location, hop.url)
  const bodyDropped = becomesGet(hop.method, answer.status)
  return {
    url,
    method: bodyDropped ? 'GET' : hop.method,
    headers: redirectedHeaders(hop.headers, {
      crossOrigin: url.origin !== hop.url.origin,
      bodyDropped,
    }),
    body: bodyDropped ? undefined : hop.body,
  }
}

/** Fetch, HTTP-redirect fetch, step 12. */
function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return (status === 301 || status === 302) && method === 'POST'
}

/** An error for site code. Its message tells nothing about the installation's own network. */
function explained(error: unknown, signal: AbortSignal, policy: EgressPolicy): Error {
  if (signal.aborted) {
    const reason: unknown = signal.reason
    const timedOut = reason instanceof Error && reason.name === 'TimeoutError'
    if (timedOut && error instanceof AppError) return error
    return new Error(
      timedOut ? `fetch: no answer within ${policy.timeoutMs} ms` : 'fetch: the call was aborted',
      { cause: error },
    )
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const message = error instanceof Error ? error.message : 'it failed'
  return new Error(`fetch: ${code === undefined ? message : `the connection failed (${code})`}`, {
    cause: error,
  })
}

/** Why a method is refused, or undefined. */
function methodFault(method: string): string | undefined {
  if (!TOKEN.test(method)) return 'the method is not a token'
  return /^(?:connect|trace|track)$/i.test(method) ? `the method "${method}" is refused` : undefined
}

/** The headers as they go out. Throws for what no header can be; drops what is ours to set. */
function outgoingHeaders(pairs: HeaderPairs): Map<string, string[]> {
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
function redirectedHeaders(
  pairs: HeaderPairs,
  change: { readonly crossOrigin: boolean; readonly bodyDropped: boolean },
): HeaderPairs {
  return pairs.filter(([name]) => {
    const lower = name.toLowerCase()
    if (change.crossOrigin && CREDENTIALS.has(lower)) return false
    return !(change.bodyDropped && BODY_HEADERS.has(lower))
  })
}
