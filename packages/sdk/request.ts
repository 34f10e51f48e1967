import { CroftError, errorOf, invalidInput, networkError } from './error.ts'

/** A repetition that has to wait longer is the caller's to decide. */
const MAX_WAIT_SECONDS = 30
const MAX_RETRIES = 2
const IDEMPOTENT = ['GET', 'PUT', 'DELETE']

export type Token = string | (() => string | Promise<string>)

export interface ClientOptions {
  /** Where the site answers: `https://shop.test`. */
  readonly baseUrl: string
  /** Sent as a bearer token, to `baseUrl` only. A function is asked before every call. */
  readonly token?: Token | undefined
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

export interface CallOptions {
  /** In place of the client's own. */
  readonly token?: Token | undefined
  readonly signal?: AbortSignal | undefined
  /** Says that the call may be repeated: 1 to 255 visible ASCII characters. */
  readonly idempotencyKey?: string | undefined
}

export interface Call extends CallOptions {
  readonly method: string
  /** With names in braces: `/admin/api/users/{userId}`. */
  readonly path: string
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  readonly body?: unknown
}

/** Sends a call, and again where that is safe and asked for. Resolves with an answer that says it went well. */
export async function send(options: ClientOptions, call: Call): Promise<Response> {
  const url = urlOf(options.baseUrl, call)
  const init = await initOf(options, call)
  const mayRepeat = IDEMPOTENT.includes(call.method) || call.idempotencyKey !== undefined
  for (let retries = 0; ; retries++) {
    const response = await exchange(options, url, init)
    if (response.ok) return response
    const error = await errorOf(response)
    call.signal?.throwIfAborted()
    const wait = [429, 503].includes(error.status) ? error.retryAfter : undefined
    const repeats = mayRepeat && retries < MAX_RETRIES
    if (!repeats || wait === undefined || wait > MAX_WAIT_SECONDS) throw error
    await pause(wait * 1000, call.signal)
  }
}

async function exchange(
  { fetch = (url, init) => globalThis.fetch(url, init) }: ClientOptions,
  url: string,
  init: RequestInit,
): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, init)
  } catch (cause) {
    init.signal?.throwIfAborted()
    throw networkError(cause, url)
  }
  const { status, type } = response
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new CroftError('The service sent the call elsewhere, and it was not followed', {
      code: 'UnexpectedRedirect',
      status,
    })
  }
  return response
}

function urlOf(baseUrl: string, { path, params = {}, query = {} }: Call): string {
  const base = siteAddress(baseUrl)
  if (!/^\/(?![/\\])/.test(path)) throw invalidInput('path: must begin with one "/"')
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => segment(name, params[name]))
  const url = new URL(base.pathname.replace(/\/+$/, '') + filled, base.origin)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  if (url.origin !== base.origin) throw invalidInput('path: leads to another origin')
  return url.href
}

function siteAddress(baseUrl: string): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  const isPlain = base !== undefined && base.username === '' && base.password === ''
  if (isPlain && /^https?:$/.test(base.protocol)) return base
  throw invalidInput('baseUrl: must be an http or https address without a user')
}

/** A value as one segment of a path: those that would name another path are refused. */
function segment(name: string, value: string | undefined): string {
  if (value === undefined || /^(?:\.{0,2})$/.test(value)) {
    throw invalidInput(`${name}: must be text other than "", "." and ".."`)
  }
  return encodeURIComponent(value)
}

async function initOf(options: ClientOptions, call: Call): Promise<RequestInit> {
  const headers: Record<string, string> = {}
  const source = call.token ?? options.token
  const token = typeof source === 'function' ? await source() : source
  call.signal?.throwIfAborted()
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey
  if (call.body !== undefined) headers['content-type'] = 'application/json'
  return {
    method: call.method,
    headers,
    // A token must not follow a redirect, and no cookie counts.
    redirect: 'manual',
    credentials: 'omit',
    ...(call.signal === undefined ? {} : { signal: call.signal }),
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  }
}

/** Resolves after that time, or rejects with the signal's reason. */
const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
