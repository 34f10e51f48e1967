import { type KeyObject, generateKeyPairSync, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'

import { type JWK, SignJWT } from 'jose'

import { listen } from './listener.ts'

type Json = Record<string, unknown>

/** What a lie starts from: the right thing to say. */
export interface HonestToken {
  readonly claims: Json
  readonly header: { alg: string; kid: string; typ: string }
  readonly key: KeyObject
}

/** What the provider does differently; whatever is left out it does honestly. */
export interface Crookedness {
  readonly metadata?: (document: Json) => unknown
  readonly keys?: (keys: readonly JWK[]) => unknown
  readonly idToken?: (honest: HonestToken) => string | Promise<string>
  readonly tokenAnswer?: (answer: Json) => unknown
  /** Takes the whole answer of a path into its hands. */
  readonly respond?: Readonly<Record<string, (response: ServerResponse) => void>>
  /** How it answers the browser. */
  readonly redirect?: (params: URLSearchParams) => void
}

/** An OpenID provider of a few lines, which can be made to lie in one thing at a time. */
export interface CrookedProvider extends AsyncDisposable {
  readonly issuer: string
  crooked: Crookedness
  person: Json
  /** Requests by path. */
  readonly hits: Map<string, number>
  rotateKey(): void
}

export async function startCrookedProvider(clientId: string): Promise<CrookedProvider> {
  const state = new ProviderState(clientId)
  const listener = await listen((issuer) => {
    state.issuer = issuer
    return (request, response) => {
      const url = new URL(request.url ?? '/', issuer)
      state.hits.set(url.pathname, (state.hits.get(url.pathname) ?? 0) + 1)
      const taken = state.crooked.respond?.[url.pathname]
      if (taken) return taken(response)
      request.resume()
      request.on('end', () => void state.answer(url, response))
    }
  })
  return Object.assign(state, {
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  })
}

class ProviderState {
  readonly #clientId: string
  readonly hits = new Map<string, number>()
  issuer = ''
  crooked: Crookedness = {}
  person: Json = { sub: 'crook-1', email: newAddress(), email_verified: true }
  #nonce = ''
  #key = newKey()

  constructor(clientId: string) {
    this.#clientId = clientId
  }

  rotateKey(): void {
    this.#key = newKey()
  }

  async answer(url: URL, response: ServerResponse): Promise<void> {
    const { issuer, crooked } = this
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return json(response, pass(crooked.metadata, metadataOf(issuer)))
      case '/jwks':
        return json(
          response,
          pass(crooked.keys, [this.#key.publicJwk], (keys) => ({ keys })),
        )
      case '/auth':
        return this.#authorize(url.searchParams, response)
      case '/token':
        return json(response, pass(crooked.tokenAnswer, await this.#tokens()))
      default:
        response.writeHead(404).end()
    }
  }

  #authorize(asked: URLSearchParams, response: ServerResponse): void {
    this.#nonce = asked.get('nonce') ?? ''
    const back = new URL(asked.get('redirect_uri') ?? '')
    back.searchParams.set('code', randomBytes(8).toString('hex'))
    back.searchParams.set('state', asked.get('state') ?? '')
    this.crooked.redirect?.(back.searchParams)
    response.writeHead(302, { location: back.href }).end()
  }

  async #tokens(): Promise<Json> {
    const now = Math.floor(Date.now() / 1000)
    const honest: HonestToken = {
      claims: {
        iss: this.issuer,
        aud: this.#clientId,
        iat: now,
        exp: now + 300,
        nonce: this.#nonce,
        ...this.person,
      },
      header: { alg: 'RS256', kid: this.#key.kid, typ: 'JWT' },
      key: this.#key.privateKey,
    }
    const idToken = await (this.crooked.idToken ?? signed)(honest)
    return { access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token: idToken }
  }
}

export const signed = ({ claims, header, key }: HonestToken): Promise<string> =>
  new SignJWT(claims).setProtectedHeader(header).sign(key)

/** Header and payload as they are, and any signature. */
export const compact = (header: object, claims: object, signature = ''): string =>
  [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat(signature)
    .join('.')

const metadataOf = (issuer: string): Json => ({
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
})

/** Another issuer is another identity, and would find the address of the last one taken. */
const newAddress = (): string => `crook-${randomBytes(4).toString('hex')}@example.test`

function newKey(): { kid: string; privateKey: KeyObject; publicJwk: JWK } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const kid = randomBytes(4).toString('hex')
  const publicJwk = { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }
  return { kid, privateKey, publicJwk }
}

function pass<Honest>(
  crooked: ((honest: Honest) => unknown) | undefined,
  honest: Honest,
  shown: (honest: Honest) => unknown = (same) => same,
): unknown {
  return crooked ? crooked(honest) : shown(honest)
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
