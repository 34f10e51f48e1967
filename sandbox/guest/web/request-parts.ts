import { abortStateOf } from './abort-signal.ts'
import type { AbortState } from './event-target.ts'
import { Headers } from './headers.ts'
import { forEach, indexOf, testPattern, toUpperCase } from './primordials.ts'
import { normalizeUrl, URL } from './url.ts'
import { byteString, TOKEN, usvString } from './webidl.ts'

/** The parts of a Request, except for its body. */
export interface RequestParts {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly choices: Readonly<Record<Choice, string>>
  readonly integrity: string
  readonly referrer: string
  readonly keepalive: boolean
  readonly follows: AbortState | null
}

type Init = Readonly<Record<string, unknown>>
type Choice = (typeof CHOICES)[number]

const CHOICES = ['cache', 'credentials', 'mode', 'priority', 'redirect', 'referrerPolicy'] as const
const TYPES: Readonly<Record<Choice, string>> = {
  cache: 'RequestCache',
  credentials: 'RequestCredentials',
  mode: 'RequestMode',
  priority: 'RequestPriority',
  redirect: 'RequestRedirect',
  referrerPolicy: 'ReferrerPolicy',
}
const DEFAULTS: Readonly<Record<Choice, string>> = {
  cache: 'default',
  credentials: 'same-origin',
  mode: 'cors',
  priority: 'auto',
  redirect: 'follow',
  referrerPolicy: '',
}
const BASE = {
  method: 'GET',
  headers: undefined,
  choices: DEFAULTS,
  integrity: '',
  referrer: 'about:client',
  keepalive: false,
  follows: null,
} as const
const ALLOWED: Readonly<Record<Choice, RegExp>> = {
  cache: /^(?:default|no-store|reload|no-cache|force-cache|only-if-cached)$/,
  credentials: /^(?:omit|same-origin|include)$/,
  mode: /^(?:same-origin|no-cors|cors)$/,
  priority: /^(?:high|low|auto)$/,
  redirect: /^(?:follow|error|manual)$/,
  referrerPolicy:
    /^(?:|no-referrer|no-referrer-when-downgrade|same-origin|origin|strict-origin|(?:strict-)?origin-when-cross-origin|unsafe-url)$/,
}
const SIMPLE = /^(?:GET|HEAD|POST)$/
const FORBIDDEN = /^(?:CONNECT|TRACE|TRACK)$/i
const NORMALIZED = /^(?:DELETE|GET|HEAD|OPTIONS|POST|PUT)$/i

/** The parts `init` asks for, over those of the request it starts from. */
export function requestParts(
  input: unknown,
  init: Init,
  from: RequestParts | undefined,
): RequestParts {
  const base = from ?? { ...BASE, url: requestUrl(input) }
  const { headers, integrity, keepalive, referrer, signal } = init
  if ((init['window'] ?? null) !== null)
    throw new TypeError("Failed to construct 'Request': 'window' can only be null")
  const chosen = choices(init, base.choices)
  return {
    url: base.url,
    method: methodFor(chosen.mode, base.method, init['method']),
    headers: new Headers(headers ?? base.headers),
    choices: chosen,
    referrer: referrer === undefined ? base.referrer : referrerOf(referrer),
    integrity: integrity === undefined ? base.integrity : `${integrity as string}`,
    keepalive: keepalive === undefined ? base.keepalive : Boolean(keepalive),
    follows: signal === undefined ? base.follows : stateOf(signal),
  }
}

/** The parts of a request that was received. */
export const servedParts = (
  served: Pick<RequestParts, 'method' | 'url' | 'headers' | 'follows'>,
): RequestParts => ({ ...BASE, ...served })

function requestUrl(input: unknown): string {
  const text = usvString(input)
  const url = normalizeUrl(text)
  if (indexOf(text, '@') !== -1 && hasCredentials(url))
    throw new TypeError(
      `Request cannot be constructed from a URL that includes credentials: ${url}`,
    )
  return url
}

function hasCredentials(url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

function methodFor(mode: string, base: string, given: unknown): string {
  const name = given === undefined ? base : method(given)
  if (mode === 'no-cors' && !testPattern(SIMPLE, name))
    throw new TypeError(`Failed to construct 'Request': '${name}' is not for mode 'no-cors'`)
  return name
}

function method(value: unknown): string {
  const text = byteString(value)
  if (!testPattern(TOKEN, text)) throw new TypeError('Method is not valid')
  if (testPattern(FORBIDDEN, text)) throw new TypeError('Method is forbidden')
  return testPattern(NORMALIZED, text) ? toUpperCase(text) : text
}

function choices(
  init: Init,
  from: Readonly<Record<Choice, string>>,
): Readonly<Record<Choice, string>> {
  const chosen = { ...from }
  forEach(CHOICES, (name) => {
    if (init[name] === undefined) return
    const value = `${init[name] as string}`
    if (!testPattern(ALLOWED[name], value))
      throw new TypeError(
        `Failed to construct 'Request': The provided value '${value}' is not a valid enum value of type ${TYPES[name]}`,
      )
    chosen[name] = value
  })
  if (chosen.cache === 'only-if-cached' && chosen.mode !== 'same-origin')
    throw new TypeError("only-if-cached cache requires 'same-origin' mode")
  return chosen
}

/** Empty for none; `about:client` stands for the caller, who has no address here. */
function referrerOf(value: unknown): string {
  const text = usvString(value)
  return text === '' || text === 'about:client' ? text : normalizeUrl(text)
}

function stateOf(signal: unknown): AbortState | null {
  if (signal === null) return null
  const state = abortStateOf(signal)
  if (state !== undefined) return state
  throw new TypeError(
    "Failed to construct 'Request': 'signal' of 'RequestInit' (Argument 2) is not of type AbortSignal",
  )
}
