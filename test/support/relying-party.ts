import { createHash, randomBytes } from 'node:crypto'

import { sessionCookie } from '#http/oidc/session-cookie.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'

const ORIGIN = { address: '127.0.0.1', userAgent: 'relying-party', requestId: 'test' }

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token?: string
}

/** One user who signed in: where the browser was sent, and what it holds. */
export interface SignedInBrowser {
  readonly location: URL
  readonly code: string
  /** As a Cookie header. */
  readonly cookie: string
  readonly token: string
}

/** A client of one pool of one site, and the users that it sends to the sign-in. */
export class RelyingParty {
  readonly stack: Stack
  readonly host: string
  readonly site: Site
  readonly pool: Pool
  readonly redirectUri: string
  readonly logoutUri: string
  readonly verifier = randomBytes(32).toString('base64url')

  private constructor(stack: Stack, host: string, site: Site, pool: Pool) {
    this.stack = stack
    this.host = host
    this.site = site
    this.pool = pool
    const client = pool.clients.get(pool.clientId)
    this.redirectUri = client?.redirectUris[0] ?? ''
    this.logoutUri = client?.logoutUris[0] ?? ''
  }

  static async of(stack: Stack, host: string, kind: PoolKind = 'data'): Promise<RelyingParty> {
    const site = await stack.context.sites.find(host)
    const { userPoolId } =
      kind === 'data'
        ? await stack.context.pools.discovery(site)
        : (await stack.context.pools.bootstrap(site)).auth
    // A pool has no key until it is asked for.
    await stack.context.signingKeys.jwks(site, userPoolId)
    const pool = await stack.context.pools.byId(site, userPoolId)
    return new RelyingParty(stack, new URL(pool.issuer).hostname, site, pool)
  }

  /** The same client, talking to another replica. */
  at(stack: Stack): Promise<RelyingParty> {
    return RelyingParty.of(stack, this.site.domain, this.pool.kind)
  }

  get path(): string {
    return new URL(this.pool.issuer).pathname
  }

  /** A good request; a change of undefined leaves a parameter out. */
  params(changes: Readonly<Record<string, string | undefined>> = {}): URLSearchParams {
    const all = {
      client_id: this.pool.clientId,
      redirect_uri: this.redirectUri,
      response_type: 'code',
      scope: 'openid email profile',
      state: 'st-1',
      nonce: 'n-1',
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...changes,
    }
    const given = Object.entries(all).filter((entry): entry is [string, string] => !!entry[1])
    return new URLSearchParams(given)
  }

  /** Path of one page of the hosted sign-in, with the request that it is about. */
  page(name: string, changes: Readonly<Record<string, string | undefined>> = {}): string {
    return `${this.path}/${name}?${this.params(changes).toString()}`
  }

  authorize(
    changes: Readonly<Record<string, string | undefined>> = {},
    cookie?: string,
  ): Promise<Answer> {
    return this.get(`/oauth2/authorize?${this.params(changes).toString()}`, cookie)
  }

  get(path: string, cookie?: string): Promise<Answer> {
    const headers = cookie === undefined ? {} : { cookie }
    return this.stack.call(this.host, 'GET', `${this.path}${path}`, { headers })
  }

  /** A user of the pool, with an account that is good to sign in. */
  async user(email: string): Promise<string> {
    const { users } = this.stack.context
    const user =
      this.pool.kind === 'data'
        ? await users.ensureVisitor(this.site, this.pool, email)
        : await users.byEmail(this.site, this.pool, email)
    return user.sub
  }

  /** What the sign-in page does once the password was right. */
  async signIn(
    sub: string,
    options: {
      readonly changes?: Readonly<Record<string, string | undefined>>
      readonly replaces?: string
      readonly authTime?: Date
    } = {},
  ): Promise<SignedInBrowser> {
    const check = checkAuthorization(this.pool, this.params(options.changes))
    if (check.kind !== 'valid') throw new Error(`The request is not valid: ${check.kind}`)
    const { signIns, clock } = this.stack.context
    const { next, session } = await signIns.complete(
      { site: this.site, request: check.request, origin: ORIGIN },
      {
        sub,
        method: 'password',
        authTime: options.authTime ?? clock.now(),
        replaces: options.replaces,
      },
    )
    const url = new URL(next.kind === 'client' ? next.location : `${this.pool.issuer}/consent`)
    const code = url.searchParams.get('code') ?? ''
    return { location: url, code, cookie: this.cookieOf(session), token: session.token }
  }

  /** What a browser sends that has the session. */
  cookieOf({ token }: { readonly token: string }): string {
    return sessionCookie(this.pool, { token, expiresAt: new Date(0) }).split(';')[0] ?? ''
  }

  post(
    endpoint: 'token' | 'revoke' | 'userInfo',
    fields: Readonly<Record<string, string | undefined>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const given = Object.entries(fields).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    return this.stack.call(this.host, 'POST', `${this.path}/oauth2/${endpoint}`, {
      body: new URLSearchParams(given).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })
  }

  exchange(
    code: string,
    changes: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Answer> {
    return this.post('token', {
      grant_type: 'authorization_code',
      client_id: this.pool.clientId,
      redirect_uri: this.redirectUri,
      code_verifier: this.verifier,
      code,
      ...changes,
    })
  }

  refresh(
    refreshToken: string,
    changes: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Answer> {
    return this.post('token', {
      grant_type: 'refresh_token',
      client_id: this.pool.clientId,
      refresh_token: refreshToken,
      ...changes,
    })
  }

  revoke(token: string, changes: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.post('revoke', { client_id: this.pool.clientId, token, ...changes })
  }

  userInfo(token: string): Promise<Answer> {
    return this.stack.call(this.host, 'GET', `${this.path}/oauth2/userInfo`, { token })
  }

  /** A whole sign-in, up to the tokens. */
  async tokens(email: string): Promise<Tokens & SignedInBrowser> {
    const browser = await this.signIn(await this.user(email))
    const answer = await this.exchange(browser.code)
    if (answer.status !== 200) throw new Error(`No tokens: ${answer.status} ${answer.text}`)
    return { ...browser, ...answer.json }
  }

  /** Whether the API takes an access token; the operation does not exist, so that a good one meets a 404. */
  async isTaken(accessToken: string): Promise<boolean> {
    const answer =
      this.pool.kind === 'data'
        ? await this.stack.call(this.site.domain, 'POST', '/data/nothing', {
            token: accessToken,
            body: { payload: {} },
          })
        : await this.stack.call(this.host, 'GET', '/admin/data/usage', { token: accessToken })
    return answer.status !== 401
  }
}
