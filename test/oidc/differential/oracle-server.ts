import { generateKeyPairSync, randomBytes } from 'node:crypto'

import { SignJWT, decodeJwt, decodeProtectedHeader } from 'jose'
import { type Grant, Provider, interactionPolicy } from 'oidc-provider'

import { listen } from '#test/listener.ts'
import { memoryAdapter } from '#test/provider-memory.ts'
import { WalkingBrowser } from '#test/walking-browser.ts'

import { AuthorizationServer, type ServerFacts } from './authorization-server.ts'
import { encoded } from './message.ts'

const SUB = 'd9b2d63d-a233-4123-847a-7090d0a40000'
const SCOPES = 'openid email profile'
const MODELS = {
  code: 'AuthorizationCode',
  refresh: 'RefreshToken',
  access: 'AccessToken',
} as const

export interface OracleServer extends AsyncDisposable {
  readonly server: AuthorizationServer
}

/** The certified one, set up to be as much like ours as its settings allow. */
export async function startOracle({
  redirectUri,
  logoutUri,
}: Pick<ServerFacts, 'redirectUri' | 'logoutUri'>): Promise<OracleServer> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'oracle' }
  const Adapter = memoryAdapter()
  const addresses = { redirectUri, logoutUri }
  const clients = ['oracle-client', 'oracle-other-client'] as const
  const listener = await listen((issuer) => {
    const provider = new Provider(issuer, configuration({ ...addresses, clients, jwk, Adapter }))
    const answering = provider.callback()
    return (request, response) =>
      request.url?.startsWith('/interaction/')
        ? void provider.interactionFinished(request, response, {
            login: { accountId: SUB },
            consent: {},
          })
        : answering(request, response)
  })
  const server: AuthorizationServer = new AuthorizationServer({
    issuer: listener.origin,
    port: Number(new URL(listener.origin).port),
    clientId: clients[0],
    otherClientId: clients[1],
    ...addresses,
    signInPath: /^\/interaction\//,
    async signIn() {
      const browser = new WalkingBrowser()
      await browser.open(`${listener.origin}/oauth2/authorize?${encoded(server.asking())}`)
      const names = ['_session', '_session.sig']
      return names.map((name) => `${name}=${browser.cookie(name)}`).join('; ')
    },
    async resign(token, changes) {
      const { alg = '', ...header } = decodeProtectedHeader(token)
      return new SignJWT({ ...decodeJwt(token), ...changes })
        .setProtectedHeader({ ...header, alg })
        .sign(privateKey)
    },
    async expire(kind, token) {
      const stored = await new Adapter(MODELS[kind]).find(token)
      if (!stored) throw new Error(`There is no such ${kind}`)
      stored['exp'] = 1
      return token
    },
  })
  return { server, [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose]() }
}

interface Settings {
  readonly clients: readonly string[]
  readonly redirectUri: string
  readonly logoutUri: string
  readonly jwk: object
  readonly Adapter: ReturnType<typeof memoryAdapter>
}

const configuration = ({ clients, redirectUri, logoutUri, jwk, Adapter }: Settings) => ({
  clients: clients.map((client_id) => ({
    client_id,
    redirect_uris: [redirectUri],
    post_logout_redirect_uris: [logoutUri],
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
    // Other methods stay known to the server, so that it sees what a client should not have sent.
    token_endpoint_auth_method: 'none',
  })),
  adapter: Adapter,
  jwks: { keys: [jwk] },
  // Authorization requests may come as forms, as OpenID Connect wants it; it takes them only with such cookies.
  enableHttpPostMethods: true,
  cookies: { keys: [randomBytes(16).toString('hex')], long: { sameSite: 'none' } },
  allowOmittingSingleRegisteredRedirectUri: false,
  responseTypes: ['code'],
  pkce: { required: () => true },
  scopes: SCOPES.split(' '),
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  issueRefreshToken: () => true,
  expiresWithSession: () => false,
  rotateRefreshToken: true,
  features: {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    resourceIndicators: { enabled: false },
    revocation: { enabled: true, allowedPolicy: isOfClient },
    rpInitiatedLogout: { enabled: true, logoutSource: askWith },
    userinfo: { enabled: true },
  },
  routes: {
    authorization: '/oauth2/authorize',
    token: '/oauth2/token',
    userinfo: '/oauth2/userInfo',
    revocation: '/oauth2/revoke',
    end_session: '/logout',
  },
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: 300,
    Grant: 3600,
    IdToken: 3600,
    Interaction: 3600,
    RefreshToken: 3600,
    Session: 3600,
  },
  interactions: { policy: prompts() },
  renderError(context: { type: string; body: string }, out: Readonly<Record<string, string>>) {
    context.type = 'html'
    context.body = `<span>${out['error']}: ${out['error_description']}</span>`
  },
  findAccount: (_context: unknown, accountId: string) => ({
    accountId,
    claims: () => ({ sub: accountId, email: 'vic@example.org', email_verified: true }),
  }),
  loadExistingGrant: grantWithoutAsking,
})

const isOfClient = (
  _context: unknown,
  client: { readonly clientId: string },
  token: { readonly clientId: string },
): boolean => token.clientId === client.clientId

function askWith(context: { body: string }, form: string): void {
  context.body = form
}

function prompts() {
  const policy = interactionPolicy.base()
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0)
  return policy
}

/** Our clients are first parties: no consent is needed. */
async function grantWithoutAsking({ oidc }: GrantContext): Promise<Grant | undefined> {
  const { client, session, provider } = oidc
  const known = session.grantIdFor(client.clientId)
  const standing = known === undefined ? undefined : await provider.Grant.find(known)
  if (standing) return standing
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
  grant.addOIDCScope(SCOPES)
  await grant.save()
  return grant
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
