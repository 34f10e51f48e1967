import { createHash, randomBytes } from 'node:crypto'

import type { PoolKind } from '#identity/pools/model.ts'

import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'

/** A client of one pool, with one authorization request of its own. */
export interface SignInClient {
  readonly host: string
  readonly issuer: string
  readonly clientId: string
  readonly redirectUri: string
  readonly verifier: string
  readonly state: string
  readonly nonce: string
  /** Of the authorization request. */
  readonly query: string
  /** Path under the issuer, the request's query with it. */
  page(name: string): string
}

export async function signInClient(
  stack: Stack,
  host: string,
  kind: PoolKind,
  changes: Readonly<Record<string, string>> = {},
): Promise<SignInClient> {
  const { issuer, clientId } = await poolNames(stack, host, kind)
  const verifier = randomBytes(32).toString('base64url')
  const redirectUri =
    stack.baseUrl(host) + (kind === 'admin' ? '/admin/callback' : '/auth/callback')
  const state = randomBytes(8).toString('hex')
  const nonce = randomBytes(8).toString('hex')
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email',
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...changes,
  }).toString()
  const { pathname } = new URL(issuer)
  const page = (name: string): string => `${pathname}/${name}?${query}`
  return { host, issuer, clientId, redirectUri, verifier, state, nonce, query, page }
}

/** Remembers cookies, fills in forms: a browser without eyes. */
export class FormBrowser {
  readonly #stack: Stack
  readonly #host: string
  readonly cookies = new Map<string, string>()

  constructor(stack: Stack, host: string) {
    this.#stack = stack
    this.#host = host
  }

  async get(path: string): Promise<Answer> {
    return this.#kept(
      await this.#stack.call(this.#host, 'GET', path, { headers: this.#headers({}) }),
    )
  }

  /** What the form of that page would send, its hidden fields included. */
  async submit(
    page: Answer,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const body = new URLSearchParams({ ...hiddenFields(page.text), ...fields }).toString()
    return this.post(actionOf(page.text), body, headers)
  }

  async post(
    path: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
    return this.#kept(
      await this.#stack.call(this.#host, 'POST', path, { body, headers: this.#headers(form) }),
    )
  }

  #headers(headers: Readonly<Record<string, string>>): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return cookie === '' ? { ...headers } : { cookie, ...headers }
  }

  /** The client joins several `Set-Cookie` with a comma; ours have no comma but in `Expires`. */
  #kept(answer: Answer): Answer {
    for (const cookie of (answer.headers['set-cookie'] ?? '').split(/, (?=croft_)/)) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      if (at > 0) this.cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return answer
  }
}

export const actionOf = (page: string): string =>
  unescape(/<form[^>]* action="([^"]*)"/.exec(page)?.[1] ?? '')

export const hiddenFields = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map((found) => [
      found[1] ?? '',
      unescape(found[2] ?? ''),
    ]),
  )

/** The words of a page, as somebody reads them. */
export const textOf = (page: string): string =>
  unescape(
    page
      .replace(/<(style|title)>[\s\S]*?<\/\1>/g, '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )

const unescape = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)))

async function poolNames(
  stack: Stack,
  host: string,
  kind: PoolKind,
): Promise<{ issuer: string; clientId: string }> {
  if (kind === 'admin') {
    const { auth } = (await stack.call(host, 'GET', '/admin/public/config')).json
    return { issuer: auth.issuer, clientId: auth.clientId }
  }
  const { data } = (await stack.call(host, 'GET', '/data/auth/config')).json
  return { issuer: data.issuer, clientId: data.userPoolClientId }
}
