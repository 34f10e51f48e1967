import {
  AuthenticationDetails,
  CognitoUser,
  CognitoUserPool,
  type CognitoUserSession,
  type ISignUpResult,
} from 'amazon-cognito-identity-js'

import type { PoolKind } from '#identity/pool-kind.ts'

import type { Answer } from './http-client.ts'
import { codeIn, linkIn, mailTo } from './outbox.ts'
import type { Stack } from './stack.ts'

const SERVICE = 'AWSCognitoIdentityProviderService.'
const AMAZON_JSON = 'application/x-amz-json-1.1'
const ORIGIN = { address: '127.0.0.1', userAgent: 'test', requestId: 'test' }

export interface CognitoAppOptions {
  /** The operator lets the client use the API unless this is said to be false. */
  readonly allowed?: boolean
}

/** A program written for Cognito, with Cognito's own library; it knows pool id, client id and endpoint. */
export class CognitoApp {
  readonly stack: Stack
  readonly host: string
  readonly kind: PoolKind
  readonly userPoolId: string
  readonly clientId: string
  readonly issuer: string
  /** As a browser's local storage. */
  readonly stored = new Map<string, string>()
  readonly #pool: CognitoUserPool

  private constructor(
    stack: Stack,
    place: { readonly host: string; readonly kind: PoolKind },
    names: { readonly userPoolId: string; readonly clientId: string; readonly issuer: string },
  ) {
    this.stack = stack
    this.host = place.host
    this.kind = place.kind
    this.userPoolId = names.userPoolId
    this.clientId = names.clientId
    this.issuer = names.issuer
    const storage = storageOn(this.stored)
    this.#pool = new CognitoUserPool({
      UserPoolId: this.userPoolId,
      ClientId: this.clientId,
      endpoint: this.issuer,
      Storage: storage,
    })
  }

  static async of(
    stack: Stack,
    host: string,
    kind: PoolKind = 'data',
    { allowed = true }: CognitoAppOptions = {},
  ): Promise<CognitoApp> {
    const site = await stack.context.sites.find(host)
    const { auth } = await stack.context.pools.bootstrap(site)
    const data = await stack.context.pools.basicDiscovery(site)
    const names = kind === 'admin' ? auth : { ...data, clientId: data.userPoolClientId }
    if (allowed) await allowCognitoApi(stack, host, kind)
    return new CognitoApp(stack, { host, kind }, names)
  }

  user(username: string): CognitoUser {
    return new CognitoUser({
      Username: username,
      Pool: this.#pool,
      Storage: storageOn(this.stored),
    })
  }

  /** The user who signed in last, as the library finds them after a restart of the program. */
  currentUser(): CognitoUser | null {
    return this.#pool.getCurrentUser()
  }

  signUp(email: string, password: string): Promise<ISignUpResult> {
    return new Promise((resolve, reject) => {
      this.#pool.signUp(email, password, [], [], (error, result) =>
        result ? resolve(result) : reject(error ?? new Error('No result')),
      )
    })
  }

  async signIn(
    email: string,
    password: string,
    flow: 'USER_SRP_AUTH' | 'USER_PASSWORD_AUTH' = 'USER_SRP_AUTH',
  ): Promise<{ readonly user: CognitoUser; readonly session: CognitoUserSession }> {
    const user = this.user(email)
    user.setAuthenticationFlowType(flow)
    const details = new AuthenticationDetails({ Username: email, Password: password })
    const session = await new Promise<CognitoUserSession>((resolve, reject) => {
      user.authenticateUser(details, { onSuccess: resolve, onFailure: reject })
    })
    return { user, session }
  }

  /** An account of the data pool by sign-up and mailed code. */
  async account(email: string, password: string): Promise<void> {
    await this.signUp(email, password)
    const code = codeIn(await mailTo(this.stack, email, 'verification'))
    await this.ok('ConfirmSignUp', {
      ClientId: this.clientId,
      Username: email,
      ConfirmationCode: code,
    })
  }

  /** The same, without the mail. */
  async accountAtOnce(email: string, password: string): Promise<string> {
    const { sites, pools, users, ownPasswords } = this.stack.context
    const site = await sites.find(this.host)
    const pool = await pools.byId(site, this.userPoolId)
    const { sub } = await users.ensureVisitor(site, pool, email)
    await ownPasswords.add({ site, pool, origin: ORIGIN }, { sub, password })
    return sub
  }

  /** An account of the admin pool: the site's super-admin takes up the invitation. */
  async superAdmin(password: string): Promise<string> {
    const email = `ann@${this.host}`
    const link = new URL(linkIn(await mailTo(this.stack, email, 'invite')))
    const token = link.searchParams.get('token') ?? ''
    const { inviteAcceptances, sites } = this.stack.context
    await inviteAcceptances.accept(await sites.find(this.host), { token, password }, ORIGIN)
    return email
  }

  /** One request as the library makes them, answered by this stack or another replica. */
  raw(target: string, body: unknown, stack = this.stack): Promise<Answer> {
    const { hostname, pathname } = new URL(this.issuer)
    return stack.call(hostname, 'POST', pathname, {
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': AMAZON_JSON, 'x-amz-target': `${SERVICE}${target}` },
    })
  }

  async ok(target: string, body: unknown): Promise<Answer> {
    const answer = await this.raw(target, body)
    if (answer.status !== 200) throw new Error(`${target}: ${answer.status} ${answer.text}`)
    return answer
  }

  initiate(flow: string, parameters: Readonly<Record<string, string>>): Promise<Answer> {
    return this.raw('InitiateAuth', {
      ClientId: this.clientId,
      AuthFlow: flow,
      AuthParameters: parameters,
    })
  }
}

export async function allowCognitoApi(
  stack: Pick<Stack, 'portal'>,
  host: string,
  kind: PoolKind,
  cognitoApi = true,
): Promise<void> {
  const change = { [kind]: { clients: { default: { cognitoApi } } } }
  const answer = await stack.portal('PATCH', `/sites/${host}/auth`, change)
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
}

/** What the library calls, once it is installed as the global `fetch`: names lead to the stack, as DNS would have it. */
export const fetchTo =
  (stack: () => Stack) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    const { hostname, pathname } = new URL(url)
    const { status, text, headers } = await stack().call(hostname, init.method ?? 'GET', pathname, {
      body: init.body,
      headers: Object.fromEntries(new Headers(init.headers)),
    })
    return new Response(text, { status, headers })
  }

/** The library's callbacks as a promise. */
export const called = <Result>(
  run: (callbacks: {
    onSuccess: (result: Result) => void
    onFailure: (error: Error) => void
  }) => void,
): Promise<Result> =>
  new Promise((onSuccess, onFailure) => {
    run({ onSuccess, onFailure })
  })

export const answered = <Result>(
  run: (done: (error: unknown, result: unknown) => void) => void,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    run((error, result) => (error ? reject(error) : resolve(result as Result)))
  })

const storageOn = (stored: Map<string, string>) => ({
  setItem: (key: string, value: string) => void stored.set(key, value),
  getItem: (key: string) => stored.get(key) ?? null,
  removeItem: (key: string) => void stored.delete(key),
  clear: () => stored.clear(),
})
