import { createHash, randomBytes } from 'node:crypto'

import { decodeJwt } from 'jose'

import type { PoolKind } from '#identity/pool-kind.ts'

import { type FakeGoogle, type FakeGoogleOptions, startFakeGoogle } from './fake-google.ts'
import type { Front } from './front.ts'
import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'
import { asSuperuser } from './superuser.ts'
import { type Walk, WalkingBrowser } from './walking-browser.ts'

/** The client that each site is at the fake Google. */
export const googleClientOf = (host: string) => ({
  clientId: `${host}.apps.googleusercontent.test`,
  clientSecret: `secret of ${host}: 100% & more`.replaceAll(' ', '-'),
})

/** A fake Google that knows these sites, and these sites set up with it. */
export async function googleFor(
  stack: Front,
  hosts: readonly string[],
  {
    alsoAt = [],
    ...options
  }: Omit<FakeGoogleOptions, 'clients'> & {
    /** Names on which the callback is registered, too. */
    readonly alsoAt?: readonly string[]
  } = {},
): Promise<FakeGoogle> {
  const clients = []
  for (const host of hosts) {
    const { issuer } = (await stack.call(host, 'GET', '/data/auth/config')).json.data
    const names = [host, ...alsoAt.filter((name) => name.endsWith(`.${host}`))]
    const redirectUris = names.map((name) => `${issuer.replace(host, name)}/oauth2/idpresponse`)
    clients.push({ ...googleClientOf(host), redirectUris })
  }
  const google = await startFakeGoogle({ ...options, clients })
  for (const host of hosts) await setUpGoogle(stack, host, google.issuer)
  return google
}

export async function setUpGoogle(stack: Front, host: string, issuer: string): Promise<void> {
  const body = { ...googleClientOf(host), issuer, enabled: true }
  const answer = await stack.portal('PUT', `/sites/${host}/auth/providers/google`, body)
  if (answer.status !== 200) throw new Error(`Google is not set up: ${answer.text}`)
}

/** A client of one pool, with one authorization request of its own. */
export interface SignInClient {
  readonly host: string
  readonly issuer: string
  readonly clientId: string
  readonly redirectUri: string
  readonly verifier: string
  readonly state: string
  readonly nonce: string
  readonly authorizeUrl: string
}

export async function signInClient(
  stack: Front,
  host: string,
  changes: Readonly<Record<string, string>> = {},
  kind: PoolKind = 'data',
): Promise<SignInClient> {
  const { issuer, clientId } = await poolNames(stack, host, kind)
  const verifier = randomBytes(32).toString('base64url')
  const path = kind === 'admin' ? '/admin/callback' : '/auth/callback'
  const redirectUri = `${stack.baseUrl(host)}${path}`
  const [state, nonce] = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')]
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email',
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...changes,
  })
  const authorizeUrl = `${issuer}/oauth2/authorize?${query.toString()}`
  return { host, issuer, clientId, redirectUri, verifier, state, nonce, authorizeUrl }
}

async function poolNames(stack: Front, host: string, kind: PoolKind) {
  if (kind === 'admin') {
    const { auth } = (await stack.call(host, 'GET', '/admin/public/config')).json
    return { issuer: String(auth.issuer), clientId: String(auth.clientId) }
  }
  const { data } = (await stack.call(host, 'GET', '/data/auth/config')).json
  return { issuer: String(data.issuer), clientId: String(data.userPoolClientId) }
}

export interface GoogleWalk extends Walk {
  readonly client: SignInClient
}

/** A browser that goes to the site's sign-in with `identity_provider=Google`, as far as it gets. */
export async function walkToGoogle(
  stack: Front,
  host: string,
  browser = new WalkingBrowser(),
  changes: Readonly<Record<string, string>> = {},
): Promise<GoogleWalk> {
  const wishes = { identity_provider: 'Google', ...changes }
  const client = await signInClient(stack, host, wishes)
  return { ...(await browser.open(client.authorizeUrl)), client }
}

/** Up to the provider's answer, which is held back. */
export async function walkToCallback(
  stack: Front,
  host: string,
  browser: WalkingBrowser,
): Promise<GoogleWalk> {
  const client = await signInClient(stack, host, { identity_provider: 'Google' })
  return { ...(await browser.open(client.authorizeUrl, isProviderCallback)), client }
}

export const isProviderCallback = ({ pathname }: URL): boolean =>
  pathname.endsWith('/oauth2/idpresponse')

/** What the client gets for the code that the walk has brought. */
export function tokensFor(stack: Front, { url, client }: GoogleWalk): Promise<Answer> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: client.clientId,
    code: url.searchParams.get('code') ?? '',
    redirect_uri: client.redirectUri,
    code_verifier: client.verifier,
  })
  return stack.call(client.host, 'POST', `${new URL(client.issuer).pathname}/oauth2/token`, {
    body: body.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
}

/** The account that a sign-in came to. */
export async function accountOf(stack: Front, walk: GoogleWalk) {
  const tokens = await tokensFor(stack, walk)
  if (tokens.status !== 200) throw new Error(`No tokens: ${tokens.text} (${walk.url.href})`)
  const { sub = '', ...claims } = decodeJwt<{
    email: string
    email_verified: boolean
    nonce: string
  }>(tokens.json.id_token)
  return { ...claims, sub, accessToken: String(tokens.json.access_token) }
}

/** What a client reads from the address that the browser came back to. */
export const answerOf = ({ url }: Pick<Walk, 'url'>): Record<string, string> =>
  Object.fromEntries(url.searchParams)

export interface SeenEvent {
  readonly sub: string | null
  readonly email: string | null
  readonly client_id: string | null
  readonly detail: Readonly<Record<string, unknown>>
}

/** The newest of its name in the audit trail. */
export const lastEvent = (stack: Stack, event: string): Promise<SeenEvent | undefined> =>
  asSuperuser(stack, async (sql) => {
    const [newest] = await sql<SeenEvent[]>`
      select sub, email, client_id, detail from security_event
      where event = ${event} order by at desc limit 1`
    return newest
  })
