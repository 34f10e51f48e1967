import assert from 'node:assert/strict'

import { vi } from 'vitest'

import type { PoolKind } from '#identity/pool-kind.ts'

import type { FakeGoogle } from './fake-google.ts'
import type { Front } from './front.ts'
import { type SignInClient, signInClient, tokensFor } from './google-sign-in.ts'
import type { Answer } from './http-client.ts'
import type { Tokens } from './relying-party.ts'
import { PASSWORD, type SignedInPerson, pageOf, signUp } from './visitors.ts'
import { type Walk, WalkingBrowser } from './walking-browser.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** What a journey visits: a site of an installation that changes between the steps. */
export interface Ground {
  readonly front: Front
  readonly host: string
  /** At which the site’s people can sign in, too. */
  readonly google: FakeGoogle
  /** For browsers: which port answers instead of which. */
  readonly ports: Map<string, string>
  /** Resolves when another process answers: another replica, or one that has restarted. */
  change(): Promise<void>
}

/** The steps of a person and their application on the way through the sign-in. */
export class Journey {
  readonly front: Front
  readonly host: string
  readonly google: FakeGoogle
  readonly #ground: Ground
  #people = 0

  constructor(ground: Ground) {
    this.front = ground.front
    this.host = ground.host
    this.google = ground.google
    this.#ground = ground
  }

  /** Between two steps. */
  change(): Promise<void> {
    return this.#ground.change()
  }

  newBrowser(): WalkingBrowser {
    return new WalkingBrowser(this.#ground.ports)
  }

  newAddress(): string {
    this.#people += 1
    return `${Math.random().toString(36).slice(2)}-${this.#people}@example.test`
  }

  /** A person who has an account, and a browser that is signed in; nothing changes on the way. */
  newPerson(): Promise<SignedInPerson> {
    return signUp(this.front, this.host, this.newAddress(), this.newBrowser())
  }

  /** One authorization request of an application. */
  client(kind: PoolKind = 'data', changes: Readonly<Record<string, string>> = {}) {
    return signInClient(this.front, this.host, changes, kind)
  }

  /** Where the browser shows the form of one page. */
  async open(browser: WalkingBrowser, client: SignInClient, page: string): Promise<Walk> {
    const walk = await browser.open(pageOf(client, page))
    assert.equal(walk.answer.status, 200, walk.answer.text)
    return walk
  }

  /** The application's turn, once the browser has come back to it. */
  exchange(client: SignInClient, walk: Walk): Promise<Answer> {
    return tokensFor(this.front, { ...walk, client })
  }

  async tokens(client: SignInClient, walk: Walk): Promise<Tokens> {
    assert.equal(walk.url.searchParams.get('state'), client.state, walk.url.href)
    return good(await this.exchange(client, walk))
  }

  refresh(
    { issuer, clientId }: SignInClient,
    refreshToken: string,
    scope?: string,
  ): Promise<Answer> {
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken }
    const fields = { ...grant, ...(scope !== undefined && { scope }) }
    return this.#post(`${issuer}/oauth2/token`, { ...fields, client_id: clientId })
  }

  async renewed(client: SignInClient, { refresh_token: token }: Tokens): Promise<Tokens> {
    return good(await this.refresh(client, token))
  }

  revoke({ issuer, clientId }: SignInClient, token: string): Promise<Answer> {
    return this.#post(`${issuer}/oauth2/revoke`, { token, client_id: clientId })
  }

  /** What the site's API says to an access token of its visitors; the operation does not exist. */
  async statusWith(accessToken: string): Promise<number> {
    const call = { token: accessToken, body: { payload: {} } }
    return (await this.front.call(this.host, 'POST', '/data/nothing', call)).status
  }

  /** One call of Cognito’s API. */
  cognito({ issuer, clientId }: SignInClient, target: string, fields: object): Promise<Answer> {
    return this.front.call(this.host, 'POST', new URL(issuer).pathname, {
      body: JSON.stringify({ ClientId: clientId, ...fields }),
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSCognitoIdentityProviderService.${target}`,
      },
    })
  }

  /** Whether nothing of a sign-in works any more: at once where it is renewed, within a second where it is used. */
  async hasEnded(client: SignInClient, tokens: Tokens): Promise<void> {
    const { status, json } = await this.refresh(client, tokens.refresh_token)
    assert.deepEqual({ status, error: json.error }, { status: 400, error: 'invalid_grant' })
    const isOver = async () => (await this.statusWith(tokens.access_token)) === 401
    await vi.waitUntil(isOver, { timeout: 60_000, interval: 25 })
  }

  /** Whether the password signs in, in a browser that knows nothing. */
  async canSignIn(email: string, password = PASSWORD): Promise<boolean> {
    const browser = this.newBrowser()
    const page = await this.open(browser, await this.client(), 'login')
    const { url } = await browser.submit(page, { username: email, password })
    return url.searchParams.has('code')
  }

  #post(url: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const body = new URLSearchParams(fields).toString()
    return this.front.call(this.host, 'POST', new URL(url).pathname, { body, headers: FORM })
  }
}

function good(answer: Answer): Tokens {
  assert.equal(answer.status, 200, answer.text)
  return answer.json as Tokens
}
