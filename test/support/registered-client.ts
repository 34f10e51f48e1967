import type { KeyObject } from 'node:crypto'
import { randomUUID } from 'node:crypto'

import { SignJWT } from 'jose'

import type { NewlyRegisteredClient } from '#identity/client-registrations/model.ts'
import type { PoolKind } from '#identity/pool-kind.ts'

import type { Answer } from './http-client.ts'
import { RelyingParty, type Tokens } from './relying-party.ts'
import type { Stack } from './stack.ts'

export const CALLBACK = 'https://helpdesk.example/callback'

type Fields = Readonly<Record<string, string | undefined>>

/** How a request names and proves its client. */
export interface Proof {
  readonly fields: Fields
  readonly headers?: Readonly<Record<string, string>>
}

/** An application that an operator registered, and the users that it sends to the sign-in. */
export class RegisteredParty {
  readonly party: RelyingParty
  readonly client: NewlyRegisteredClient

  private constructor(party: RelyingParty, client: NewlyRegisteredClient) {
    this.party = party
    this.client = client
  }

  static async register(
    stack: Stack,
    host: string,
    registration: Readonly<Record<string, unknown>> = {},
  ): Promise<RegisteredParty> {
    const body = { name: 'Helpdesk', redirectUris: [CALLBACK], ...registration }
    const answer = await stack.portal('POST', `/sites/${host}/clients`, body)
    if (answer.status !== 200) throw new Error(`Not registered: ${answer.status} ${answer.text}`)
    const client: NewlyRegisteredClient = answer.json
    return new RegisteredParty(await RelyingParty.of(stack, host, client.pool as PoolKind), client)
  }

  get clientId(): string {
    return this.client.clientId
  }

  /** Its request, without PKCE. */
  request(changes: Fields = {}): Fields {
    return {
      client_id: this.clientId,
      redirect_uri: CALLBACK,
      code_challenge: undefined,
      code_challenge_method: undefined,
      ...changes,
    }
  }

  /** A code for a person who has just signed in for the application. */
  async code(email: string, changes: Fields = {}): Promise<string> {
    const sub = await this.party.user(email)
    const { code, location } = await this.party.signIn(sub, { changes: this.request(changes) })
    if (code === '') throw new Error(`There is no code in ${location.href}`)
    return code
  }

  exchange(code: string, proof: Proof = this.basic(), changes: Fields = {}): Promise<Answer> {
    const fields = { grant_type: 'authorization_code', redirect_uri: CALLBACK, code }
    return this.party.post('token', { ...fields, ...proof.fields, ...changes }, proof.headers)
  }

  refresh(refreshToken: string, proof: Proof = this.basic()): Promise<Answer> {
    const fields = { grant_type: 'refresh_token', refresh_token: refreshToken }
    return this.party.post('token', { ...fields, ...proof.fields }, proof.headers)
  }

  revoke(token: string, proof: Proof = this.basic()): Promise<Answer> {
    return this.party.post('revoke', { token, ...proof.fields }, proof.headers)
  }

  async tokens(email: string, proof?: Proof): Promise<Tokens> {
    const answer = await this.exchange(await this.code(email), proof)
    if (answer.status !== 200) throw new Error(`No tokens: ${answer.status} ${answer.text}`)
    return answer.json
  }

  basic(secret = this.client.clientSecret ?? '', clientId = this.clientId): Proof {
    const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`
    const authorization = `Basic ${Buffer.from(pair).toString('base64')}`
    return { fields: {}, headers: { authorization } }
  }

  post(secret = this.client.clientSecret ?? ''): Proof {
    return { fields: { client_id: this.clientId, client_secret: secret } }
  }

  named(): Proof {
    return { fields: { client_id: this.clientId } }
  }

  /** `claims` of undefined leave one out. */
  async signed(
    key: KeyObject,
    { alg = 'ES256', kid = 'k1', ...claims }: Readonly<Record<string, unknown>> = {},
  ): Promise<Proof> {
    const now = Math.floor(Date.now() / 1000)
    const all = {
      iss: this.clientId,
      sub: this.clientId,
      aud: this.party.pool.issuer,
      exp: now + 60,
      iat: now,
      jti: randomUUID(),
      ...claims,
    }
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    const assertion = await new SignJWT(given)
      .setProtectedHeader({ alg: String(alg), kid: String(kid) })
      .sign(key)
    return {
      fields: {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion,
      },
    }
  }
}
