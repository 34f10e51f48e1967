import { createHash, randomBytes } from 'node:crypto'

import { type GoogleWalk, tokensFor } from './google-sign-in.ts'
import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'
import { PASSWORD, type SignedInPerson } from './visitors.ts'
import type { WalkingBrowser } from './walking-browser.ts'

/** One request to link, as the site's application makes it. */
export interface LinkAttempt {
  readonly answer: Answer
  readonly verifier: string
  readonly state: string
  readonly redirectUri: string
}

export async function startLink(
  stack: Stack,
  host: string,
  token: string | undefined,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<LinkAttempt> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(8).toString('hex')
  const redirectUri = `${stack.baseUrl(host)}/auth/callback`
  const body = {
    redirectUri,
    codeChallenge: createHash('sha256').update(verifier).digest('base64url'),
    codeChallengeMethod: 'S256',
    state,
    proof: { currentPassword: PASSWORD },
    ...changes,
  }
  const path = '/data/auth/providers/google/link/start'
  const answer = await stack.call(host, 'POST', path, { token, body })
  return { answer, verifier, state, redirectUri }
}

/** What an application is given to send its browser to. */
export async function authorizeUrlFor(
  stack: Stack,
  host: string,
  token: string,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<LinkAttempt & { readonly url: string }> {
  const attempt = await startLink(stack, host, token, changes)
  const { answer } = attempt
  if (answer.status !== 200) throw new Error(`No link: ${answer.status} ${answer.text}`)
  return { ...attempt, url: String(answer.json.data.authorizeUrl) }
}

/** The whole way, in the person's own browser or another. */
export async function link(
  stack: Stack,
  host: string,
  person: SignedInPerson,
  browser: WalkingBrowser = person.browser,
) {
  const attempt = await authorizeUrlFor(stack, host, person.token)
  return { ...attempt, walk: await browser.open(attempt.url) }
}

/** What the link client gets for its code. */
export function linkTokens(
  stack: Stack,
  host: string,
  { answer, verifier, redirectUri, walk }: Awaited<ReturnType<typeof link>>,
): Promise<Answer> {
  const { clientId, authorizeUrl } = answer.json.data
  const issuer = String(authorizeUrl).split('/oauth2/')[0] ?? ''
  const client: GoogleWalk['client'] = {
    host,
    issuer,
    clientId,
    redirectUri,
    verifier,
    state: '',
    nonce: '',
    authorizeUrl,
  }
  return tokensFor(stack, { ...walk, client })
}
