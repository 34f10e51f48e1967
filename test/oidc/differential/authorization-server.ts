import { createHash, randomBytes, randomUUID } from 'node:crypto'

import { type Answer, request } from '#test/http-client.ts'

import { type Endpoint, type Fields, type Message, encoded } from './message.ts'

/** A server, the two clients that it knows, and what only the server itself can do. */
export interface ServerFacts {
  readonly issuer: string
  readonly port: number
  readonly clientId: string
  readonly otherClientId: string
  readonly redirectUri: string
  readonly logoutUri: string
  /** Where the server asks people who they are. */
  readonly signInPath: RegExp
  /** Signs a user in, as a browser whose Cookie header this is. */
  signIn(): Promise<string>
  /** The same token with other claims, signed by the server. */
  resign(idToken: string, changes: object): Promise<string>
  /** What to send as this token when its time is over. */
  expire(kind: 'code' | 'refresh' | 'access', token: string): Promise<string>
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
}

const PATHS: Readonly<Record<Endpoint, string>> = {
  authorize: '/oauth2/authorize',
  token: '/oauth2/token',
  userInfo: '/oauth2/userInfo',
  revoke: '/oauth2/revoke',
  logout: '/logout',
}
const FORM = 'application/x-www-form-urlencoded'

/** Either side of the comparison: the same paths, a client with the same registration, and requests that begin as good ones. */
export class AuthorizationServer {
  readonly facts: ServerFacts
  readonly verifier = randomBytes(32).toString('base64url')

  constructor(facts: ServerFacts) {
    this.facts = facts
  }

  send({ endpoint, method = 'GET', query = '', form, body, headers }: Message): Promise<Answer> {
    const { issuer, port } = this.facts
    const { host, pathname } = new URL(issuer)
    const search = typeof query === 'string' ? query : encoded(query)
    const content = form ? encoded(form) : body
    return request({
      port,
      host,
      method,
      path: `${pathname.replace(/\/$/, '')}${PATHS[endpoint]}${search && `?${search}`}`,
      headers: { accept: acceptedAt(endpoint), ...(form && { 'content-type': FORM }), ...headers },
      ...(content !== undefined && { body: content }),
    })
  }

  /** A good authorization request, except for the changes. */
  asking(changes: Fields = {}): Fields {
    return {
      client_id: this.facts.clientId,
      redirect_uri: this.facts.redirectUri,
      response_type: 'code',
      scope: 'openid email profile',
      state: 'st-1',
      nonce: 'n-1',
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...changes,
    }
  }

  authorize(changes: Fields = {}, cookie?: string): Promise<Answer> {
    const headers = cookie === undefined ? {} : { cookie }
    return this.send({ endpoint: 'authorize', query: this.asking(changes), headers })
  }

  async code(changes: Fields = {}): Promise<string> {
    const { headers } = await this.authorize(changes, await this.facts.signIn())
    const code = new URL(headers['location'] ?? '', this.facts.issuer).searchParams.get('code')
    if (code === null) throw new Error(`No code: ${headers['location']}`)
    return code
  }

  /** A good exchange of the code, except for the changes. */
  exchanging(code: string, changes: Fields = {}): Fields {
    return {
      grant_type: 'authorization_code',
      client_id: this.facts.clientId,
      redirect_uri: this.facts.redirectUri,
      code_verifier: this.verifier,
      code,
      ...changes,
    }
  }

  exchange(code: string, changes: Fields = {}, headers = {}): Promise<Answer> {
    return this.post('token', this.exchanging(code, changes), headers)
  }

  refresh(refreshToken: string, changes: Fields = {}): Promise<Answer> {
    return this.post('token', {
      grant_type: 'refresh_token',
      client_id: this.facts.clientId,
      refresh_token: refreshToken,
      ...changes,
    })
  }

  post(endpoint: Endpoint, form: Fields, headers = {}): Promise<Answer> {
    return this.send({ endpoint, method: 'POST', form, headers })
  }

  async tokens(changes: Fields = {}): Promise<Tokens> {
    const answer = await this.exchange(await this.code(changes))
    if (answer.status !== 200) throw new Error(`No tokens: ${answer.status} ${answer.text}`)
    return answer.json
  }

  userInfo(accessToken: string): Promise<Answer> {
    return this.send({ endpoint: 'userInfo', headers: { authorization: `Bearer ${accessToken}` } })
  }

  /** An id token for the other client, of the same user. */
  async idTokenOfOther(): Promise<string> {
    const { id_token } = await this.tokens()
    return this.facts.resign(id_token, { aud: this.facts.otherClientId })
  }

  async idTokenOfAnother(): Promise<string> {
    const { id_token } = await this.tokens()
    return this.facts.resign(id_token, { sub: randomUUID() })
  }
}

const acceptedAt = (endpoint: Endpoint): string =>
  endpoint === 'authorize' || endpoint === 'logout' ? 'text/html' : 'application/json'
