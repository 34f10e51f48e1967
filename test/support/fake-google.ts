import { generateKeyPairSync, randomBytes } from 'node:crypto'

import { Provider } from 'oidc-provider'

import { listen } from './listener.ts'
import { memoryAdapter } from './provider-memory.ts'

/** A Google account. */
interface GooglePerson {
  readonly subject: string
  readonly email?: string
  /** True when left out; anything may be claimed. */
  readonly emailVerified?: unknown
}

interface GoogleClient {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUris: readonly string[]
}

export interface FakeGoogleOptions {
  readonly clients: readonly GoogleClient[]
  /** Whether the claims of `email` are in the id token, as Google has it, or in the user info only. */
  readonly claimsIn?: 'id-token' | 'user-info'
}

/** A certified OpenID provider without pages: it signs in the person that the test has chosen. */
export interface FakeGoogle extends AsyncDisposable {
  readonly issuer: string
  /** Who sits at the keyboard from now on; undefined says no to everything. */
  person: GooglePerson | undefined
  /** The authorization requests that came, newest last. */
  readonly asked: URLSearchParams[]
}

const SCOPES = ['openid', 'email', 'profile', 'https://www.googleapis.com/auth/userinfo.email']

export async function startFakeGoogle(options: FakeGoogleOptions): Promise<FakeGoogle> {
  const people = new Map<string, GooglePerson>()
  const google = { person: undefined as GooglePerson | undefined, asked: [] as URLSearchParams[] }
  const listener = await listen((issuer) => {
    const provider = new Provider(issuer, configuration(options, people))
    const answering = provider.callback()
    return (request, response) => {
      const url = new URL(request.url ?? '/', issuer)
      if (url.pathname === '/auth') google.asked.push(url.searchParams)
      if (!url.pathname.startsWith('/interaction/')) return answering(request, response)
      const { person } = google
      if (person) people.set(person.subject, person)
      const result = person
        ? { login: { accountId: person.subject }, consent: {} }
        : { error: 'access_denied', error_description: 'No' }
      return void provider.interactionFinished(request, response, result)
    }
  })
  return Object.assign(google, {
    issuer: listener.origin,
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  })
}

const configuration = (
  { clients, claimsIn = 'id-token' }: FakeGoogleOptions,
  people: ReadonlyMap<string, GooglePerson>,
) => ({
  clients: clients.map(({ clientId, clientSecret, redirectUris }) => ({
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uris: [...redirectUris],
    response_types: ['code'],
    grant_types: ['authorization_code'],
  })),
  adapter: memoryAdapter(),
  jwks: { keys: [signingKey()] },
  ttl: {
    AccessToken: 60,
    AuthorizationCode: 60,
    Grant: 600,
    IdToken: 60,
    Interaction: 60,
    Session: 600,
  },
  renderError: (context: { body: unknown }, out: object) => {
    context.body = out
  },
  scopes: SCOPES,
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  conformIdTokenClaims: claimsIn === 'user-info',
  cookies: { keys: [randomBytes(16).toString('hex')] },
  features: { devInteractions: { enabled: false } },
  pkce: { required: () => true },
  interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  findAccount: (_context: unknown, subject: string) => ({
    accountId: subject,
    claims: () => claimsOf(people.get(subject), subject),
  }),
  /** Grants consent without a question. */
  async loadExistingGrant(context: GrantContext) {
    const { client, session, provider } = context.oidc
    const known = session.grantIdFor(client.clientId)
    if (known !== undefined) return provider.Grant.find(known)
    const grant = new provider.Grant({
      clientId: client.clientId,
      accountId: session.accountId,
    })
    grant.addOIDCScope(SCOPES.join(' '))
    await grant.save()
    return grant
  },
})

const signingKey = () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'google-1' }
}

interface GrantContext {
  readonly oidc: {
    readonly client: { readonly clientId: string }
    readonly session: {
      readonly accountId: string
      grantIdFor(clientId: string): string | undefined
    }
    readonly provider: Provider
  }
}

const claimsOf = (person: GooglePerson | undefined, subject: string) => ({
  sub: subject,
  ...(person?.email !== undefined && {
    email: person.email,
    email_verified: person.emailVerified ?? true,
  }),
})
