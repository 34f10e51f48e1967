import { type JWTPayload, createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'

import { Owner, PASSWORD } from './account-owner.ts'
import { FormBrowser } from './form-browser.ts'
import type { Answer } from './http-client.ts'
import { CALLBACK, type Proof, RegisteredParty } from './registered-client.ts'
import type { Stack } from './stack.ts'

export const BYE = 'https://helpdesk.example/bye'

type Fields = Readonly<Record<string, string | undefined>>

/** The outcome of an authorization request: the response to the client, or the page that the browser shows. */
export interface Outcome {
  readonly callback: URLSearchParams | undefined
  readonly page: Answer
  /** Whether the user was asked to sign in on the way. */
  readonly asked: boolean
}

/** Where the provider is, as its discovery says. */
export interface ProviderMetadata {
  readonly [name: string]: unknown
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly userinfo_endpoint: string
  readonly end_session_endpoint: string
  readonly jwks_uri: string
}

/** Two clients with secrets, a user with a password, and a browser, which know the provider by its discovery alone. */
export class OpenIdSuite {
  readonly stack: Stack
  readonly host: string
  readonly metadata: ProviderMetadata
  readonly client: RegisteredParty
  readonly other: RegisteredParty
  readonly owner: Owner
  readonly now: () => Date
  browser: FormBrowser

  private constructor(
    parts: Pick<OpenIdSuite, 'stack' | 'host' | 'metadata' | 'client' | 'other' | 'owner' | 'now'>,
  ) {
    this.stack = parts.stack
    this.host = parts.host
    this.metadata = parts.metadata
    this.client = parts.client
    this.other = parts.other
    this.owner = parts.owner
    this.now = parts.now
    this.browser = new FormBrowser(parts.stack, parts.host)
  }

  static async open(stack: Stack, host: string, now: () => Date): Promise<OpenIdSuite> {
    const registration = { logoutUris: [BYE] }
    const client = await RegisteredParty.register(stack, host, registration)
    const other = await RegisteredParty.register(stack, host, registration)
    const owner = await Owner.of(stack, host)
    const path = `${client.party.path}/.well-known/openid-configuration`
    const metadata = (await stack.call(host, 'GET', path)).json
    return new OpenIdSuite({ stack, host, metadata, client, other, owner, now })
  }

  /** It has no session. */
  newBrowser(): void {
    this.browser = new FormBrowser(this.stack, this.host)
  }

  request(changes: Fields = {}): URLSearchParams {
    return this.client.party.params(this.client.request(changes))
  }

  /** Sends the browser with the request, and signs the user in where a page asks for it. */
  async authorize(changes: Fields = {}, method: 'GET' | 'POST' = 'GET'): Promise<Outcome> {
    const query = this.request(changes).toString()
    const path = pathOf(this.metadata.authorization_endpoint)
    const first =
      method === 'GET'
        ? await this.browser.get(`${path}?${query}`)
        : await this.browser.post(path, query)
    const page = await this.#follow(first)
    if (!page.text.includes('name="password"')) return this.#outcome(page, false)
    const signedIn = await this.browser.submit(page, {
      username: this.owner.email,
      password: PASSWORD,
    })
    return this.#outcome(await this.#follow(signedIn), true)
  }

  /** A whole sign-in. */
  async signIn(changes: Fields = {}, proof?: Proof) {
    const { callback, page, asked } = await this.authorize(changes)
    const code = callback?.get('code')
    if (typeof code !== 'string') throw new Error(`There is no code: ${page.status} ${page.text}`)
    const answer = await this.client.exchange(code, proof)
    if (answer.status !== 200) throw new Error(`No tokens: ${answer.status} ${answer.text}`)
    const claims = await this.claims(answer.json.id_token)
    return { callback, code, answer, tokens: answer.json, claims, asked }
  }

  /** Throws for an id token whose signature or claims are not right. */
  async claims(idToken: string): Promise<JWTPayload> {
    const keys = (await this.stack.call(this.host, 'GET', pathOf(this.metadata.jwks_uri))).json
    const { kid } = decodeProtectedHeader(idToken)
    if (kid === undefined) throw new Error('The id token names no key')
    const { payload } = await jwtVerify(idToken, createLocalJWKSet(keys), {
      issuer: this.metadata.issuer,
      audience: this.client.clientId,
      algorithms: ['RS256'],
      requiredClaims: ['sub', 'exp', 'iat', 'auth_time'],
      currentDate: this.now(),
    })
    return payload
  }

  userInfo(token: string, way: 'get' | 'post-header' | 'post-body' = 'get'): Promise<Answer> {
    const path = pathOf(this.metadata.userinfo_endpoint)
    if (way === 'get') return this.stack.call(this.host, 'GET', path, { token })
    if (way === 'post-header') return this.stack.call(this.host, 'POST', path, { token })
    return this.stack.call(this.host, 'POST', path, {
      body: new URLSearchParams({ access_token: token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  }

  /** Sends the browser to sign out. */
  signOut(fields: Fields): Promise<Answer> {
    const given = Object.entries(fields).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    const query = new URLSearchParams(given).toString()
    return this.browser.get(`${pathOf(this.metadata.end_session_endpoint)}?${query}`)
  }

  async isSignedIn(): Promise<boolean> {
    const { callback } = await this.authorize({ prompt: 'none' })
    return callback?.has('code') === true
  }

  /** Our own redirects; the client's ends the way. */
  async #follow(answer: Answer): Promise<Answer> {
    let at = answer
    for (let steps = 0; steps < 5; steps += 1) {
      const to = at.headers['location']
      if (to === undefined || !to.startsWith('/')) return at
      at = await this.browser.get(to)
    }
    throw new Error('The browser goes round in circles')
  }

  #outcome(page: Answer, asked: boolean): Outcome {
    const to = page.headers['location']
    const callback = to?.startsWith(`${CALLBACK}?`) ? new URL(to).searchParams : undefined
    return { callback, page, asked }
  }
}

const pathOf = (address: string): string => new URL(address).pathname
