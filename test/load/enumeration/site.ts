import { createHash, randomBytes } from 'node:crypto'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { jsonCall } from '#bench/http-call.ts'
import { actionOf, hiddenFields } from '#test/form-browser.ts'

const HOST = 'enumeration.test'
export const PASSWORD = 'Correct-Horse-9-Battery'

export interface Timed {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** From the first byte of the request to the last one of the answer. */
  readonly ms: number
}

/** One request, ready to be sent. */
export interface Ask {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

interface Bootstrap {
  readonly data: { readonly issuer: string; readonly userPoolClientId: string }
}

/** A site of a fresh installation, in a process of its own, and one connection to it that is kept open. */
export class Site implements AsyncDisposable {
  readonly #croft: CroftProcess
  readonly #operatorKey: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly clientId: string
  /** Of the issuer of the visitors' pool. */
  readonly path: string
  readonly #origin: string
  #networks = 0
  #cookie = ''

  private constructor(
    croft: CroftProcess,
    names: { readonly operatorKey: string; readonly issuer: string; readonly clientId: string },
  ) {
    this.#croft = croft
    this.#operatorKey = names.operatorKey
    this.clientId = names.clientId
    const { origin, pathname } = new URL(names.issuer)
    this.path = pathname
    this.#origin = origin
  }

  static async open(): Promise<Site> {
    const operatorKey = randomBytes(32).toString('base64url')
    const settings = { CROFT_OPERATOR_KEY: operatorKey, CROFT_TRUSTED_PROXIES: '127.0.0.1' }
    const croft = await startCroft(undefined, settings)
    const { origin } = croft
    await croft.command('site', 'create', '--domain', HOST, '--super-admin', `ann@${HOST}`)
    await croft.command('auth', 'set', HOST, '--pool', 'data', '--cognito-api', 'on')
    const { data } = await jsonCall<Bootstrap>({
      origin,
      host: HOST,
      method: 'GET',
      path: '/data/auth/config',
    })
    const { issuer, userPoolClientId: clientId } = data
    return new Site(croft, { operatorKey, issuer, clientId })
  }

  /** Headers of a client from a new network. */
  network(): Record<string, string> {
    this.#networks += 1
    const [high, low] = [this.#networks >> 16, this.#networks & 0xff_ff]
    return { 'x-forwarded-for': `2001:db8:${high.toString(16)}:${low.toString(16)}::1` }
  }

  /** An account without a password, as one has who comes from Google. */
  async visitor(email: string): Promise<{ readonly token: string }> {
    return jsonCall<{ token: string }>({
      origin: this.#croft.origin,
      host: 'localhost',
      method: 'POST',
      path: `/portal/api/sites/${HOST}/tokens`,
      token: this.#operatorKey,
      body: { user: email, pool: 'data' },
    })
  }

  async account(email: string): Promise<void> {
    const { token } = await this.visitor(email)
    const post = (path: string, body: object) =>
      jsonCall({ origin: this.#croft.origin, host: HOST, method: 'POST', path, token, body })
    await post('/data/auth/proof/start', { action: 'password', method: 'code' })
    const proofCode = await this.#mailedCode(email)
    await post('/data/auth/password/add', { password: PASSWORD, proof: { proofCode } })
  }

  async #mailedCode(email: string): Promise<string> {
    for (let tries = 0; tries < 200; tries++) {
      const { items } = await jsonCall<{ items: { text: string }[] }>({
        origin: this.#croft.origin,
        host: 'localhost',
        method: 'GET',
        path: `/portal/api/outbox?to=${encodeURIComponent(email)}`,
        token: this.#operatorKey,
      })
      const code = /(?<!\d)\d{6}(?!\d)/.exec(items[0]?.text ?? '')?.[0]
      if (code !== undefined) return code
      await setTimeout(25)
    }
    throw new Error(`No code came to ${email}`)
  }

  /** One of Cognito's operations. */
  operation(target: string, fields: object): Ask {
    return {
      path: this.path,
      headers: {
        ...this.network(),
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSCognitoIdentityProviderService.${target}`,
      },
      body: JSON.stringify({ ClientId: this.clientId, ...fields }),
    }
  }

  pagePath(name: string): string {
    const query = new URLSearchParams({
      client_id: this.clientId,
      redirect_uri: `${this.#origin}/auth/callback`,
      response_type: 'code',
      scope: 'openid email',
      code_challenge: createHash('sha256').update('x').digest('base64url'),
      code_challenge_method: 'S256',
    })
    return `${this.path}/${name}?${query.toString()}`
  }

  /** The fields of a page's form, except for what is typed. */
  async form(path: string): Promise<(fields: Readonly<Record<string, string>>) => Ask> {
    const page = await this.send({ path, headers: { cookie: this.#cookie } })
    if (page.status !== 200) throw new Error(`${path} answered ${page.status}: ${page.text}`)
    const [cookie] = page.headers['set-cookie'] ?? []
    this.#cookie = cookie?.split(';')[0] ?? this.#cookie
    const hidden = hiddenFields(page.text)
    const action = actionOf(page.text)
    return (fields) => ({
      path: action,
      headers: {
        ...this.network(),
        'content-type': 'application/x-www-form-urlencoded',
        cookie: this.#cookie,
      },
      body: new URLSearchParams({ ...hidden, ...fields }).toString(),
    })
  }

  async send({ path, headers, body }: Ask): Promise<Timed> {
    const startedAt = performance.now()
    const outgoing = request(new URL(path, this.#croft.origin), {
      agent: this.#agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        host: HOST,
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
    })
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    outgoing.end(body)
    const response = await promise
    const said = await text(response)
    const ms = performance.now() - startedAt
    return { status: response.statusCode ?? 0, headers: response.headers, text: said, ms }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy()
    await this.#croft[Symbol.asyncDispose]()
  }
}
