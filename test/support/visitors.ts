import type { Front } from './front.ts'
import { type SignInClient, accountOf, signInClient } from './google-sign-in.ts'
import type { Answer } from './http-client.ts'
import { codeIn, mailTo } from './outbox.ts'
import { type Walk, WalkingBrowser } from './walking-browser.ts'

export const PASSWORD = 'Correct-Horse-9-Battery'

/** A person with a browser that is signed in to a site. */
export interface SignedInPerson {
  readonly email: string
  readonly sub: string
  readonly token: string
  readonly browser: WalkingBrowser
}

/** A person who signs up on the pages: address, password, mailed code. */
export async function signUp(
  stack: Front,
  host: string,
  email: string,
  browser = new WalkingBrowser(),
): Promise<SignedInPerson> {
  const client = await signInClient(stack, host)
  const waiting = await requestSignUp(browser, { client, email })
  const walk = await browser.submit(waiting, {
    code: codeIn(await mailTo(stack, email, 'verification')),
  })
  const { sub, accessToken: token } = await accountOf(stack, { ...walk, client })
  return { email, sub, token, browser }
}

/** As far as the page that asks for the code. */
export async function requestSignUp(
  browser: WalkingBrowser,
  { client, email }: { readonly client: SignInClient; readonly email: string },
): Promise<Walk> {
  const page = await browser.open(pageOf(client, 'signup'))
  return browser.submit(page, { username: email, password: PASSWORD })
}

/** What the sign-in page does with an address and a password. */
export async function signInWithPassword(
  stack: Front,
  host: string,
  { email, password = PASSWORD }: { readonly email: string; readonly password?: string },
): Promise<Walk & { readonly client: SignInClient; readonly browser: WalkingBrowser }> {
  const browser = new WalkingBrowser()
  const client = await signInClient(stack, host)
  const page = await browser.open(pageOf(client, 'login'))
  const walk = await browser.submit(page, { username: email, password })
  return { ...walk, client, browser }
}

/** How a user can sign in, as `GET /data/auth/methods` says it. */
export async function methodsOf(stack: Front, host: string, token: string) {
  const answer: Answer = await stack.call(host, 'GET', '/data/auth/methods', { token })
  if (answer.status !== 200) throw new Error(`No methods: ${answer.status} ${answer.text}`)
  return answer.json.data.methods as {
    readonly password: { readonly enabled: boolean }
    readonly google: { readonly enabled: boolean; readonly linkedAt?: string }
  }
}

export const pageOf = (
  { authorizeUrl }: Pick<SignInClient, 'authorizeUrl'>,
  page: string,
): string => authorizeUrl.replace('/oauth2/authorize?', `/${page}?`)
