import { createHash, randomBytes } from 'node:crypto'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

const agent = new Agent({ keepAlive: true, maxSockets: 128 })
const HIDDEN = /<input[^>]*type="hidden"[^>]*>/g

export interface Pool {
  readonly origin: string
  readonly host: string
  /** Of the issuer. */
  readonly path: string
  readonly clientId: string
  readonly redirectUri: string
}

interface Page {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** As much of a browser as a sign-in takes: forms with their hidden fields, and cookies. */
export class Browser {
  readonly #cookies = new Map<string, string>()
  readonly #origin: string
  readonly #host: string

  constructor(at: { readonly origin: string; readonly host: string }) {
    this.#origin = at.origin
    this.#host = at.host
  }

  async get(path: string): Promise<Page> {
    return this.#send('GET', path)
  }

  async post(path: string, fields: Readonly<Record<string, string>>): Promise<Page> {
    return this.#send('POST', path, new URLSearchParams(fields).toString())
  }

  async #send(method: 'GET' | 'POST', path: string, body?: string): Promise<Page> {
    const outgoing = request(new URL(path, this.#origin), {
      agent,
      method,
      headers: {
        host: this.#host,
        cookie: [...this.#cookies].map((pair) => pair.join('=')).join('; '),
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    })
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    outgoing.end(body)
    const response = await promise
    for (const cookie of response.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (name !== undefined) this.#cookies.set(name, value ?? '')
    }
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: await text(response),
    }
  }
}

export const hiddenFields = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(HIDDEN)].map(([input]) => [
      /name="([^"]*)"/.exec(input)?.[1] ?? '',
      /value="([^"]*)"/.exec(input)?.[1] ?? '',
    ]),
  )

/** A whole sign-in in a browser that has never been here: page, form, code, tokens. */
export async function signIn(pool: Pool, user: { email: string; password: string }): Promise<void> {
  const browser = new Browser(pool)
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: pool.clientId,
    redirect_uri: pool.redirectUri,
    response_type: 'code',
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  const page = await browser.get(`${pool.path}/login?${query}`)
  const answer = await browser.post(`${pool.path}/login?${query}`, {
    ...hiddenFields(page.body),
    username: user.email,
    password: user.password,
  })
  const code = new URL(answer.headers.location ?? '', pool.origin).searchParams.get('code')
  if (code === null) throw new Error(`${user.email} was answered ${answer.status}: ${answer.body}`)
  const tokens = await browser.post(`${pool.path}/oauth2/token`, {
    grant_type: 'authorization_code',
    client_id: pool.clientId,
    redirect_uri: pool.redirectUri,
    code_verifier: verifier,
    code,
  })
  if (tokens.status !== 200) throw new Error(`no tokens: ${tokens.body}`)
}
