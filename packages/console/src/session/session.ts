import { type ReadonlySignal, computed, signal } from '@preact/signals'

import type { ConsoleConfig } from '#app/console-config.ts'

import { challengeOf, randomText } from './pkce.ts'
import { type Account, type Tokens, parseTokens } from './tokens.ts'

/** Kept in the tab from the navigation to the issuer until the return. */
const PENDING = 'croft-sign-in'
const SIGNED_IN = '/signed-in'
/** Before it expires: a call that is on its way takes a while. */
const AHEAD_MS = 60_000
/** What an authorization endpoint says where only a person can go on (OpenID Connect Core section 3.1.2.6). */
const NEEDS_PERSON = new Set([
  'login_required',
  'interaction_required',
  'account_selection_required',
  'consent_required',
])
/** The service asks for a sign-in of the last 15 minutes. */
const STEP_UP_MAX_AGE_SECONDS = 14 * 60

export type SessionState =
  | { readonly kind: 'starting' }
  /** The tab goes to the issuer. */
  | { readonly kind: 'leaving' }
  | { readonly kind: 'signed-in'; readonly account: Account }
  /** It was ended elsewhere, or its time is over. What is on the page stays until a person signs in again. */
  | { readonly kind: 'ended'; readonly account: Account }
  | { readonly kind: 'failed'; readonly message: string }

export interface SessionDeps {
  readonly config: Pick<ConsoleConfig, 'issuer' | 'clientId'>
  readonly origin: string
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Leaves the page. */
  readonly leave: (url: string) => void
  readonly now: () => number
  /** The language of the reader, for the pages of the issuer. */
  readonly language: () => string
}

interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly returnTo: string
  readonly isSilent: boolean
}

/** Neither the access token nor a new one: there was no response, or the session has ended. */
export class SessionError extends Error {
  readonly isEnded: boolean

  constructor(message: string, options: { readonly isEnded: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause })
    this.isEnded = options.isEnded
  }
}

/** The sign-in of this tab: OpenID Connect's code flow with PKCE. Tokens are in memory alone. */
export class Session {
  readonly #deps: SessionDeps
  readonly #state = signal<SessionState>({ kind: 'starting' })
  #tokens: Tokens | undefined
  #renewal: Promise<Tokens> | undefined

  readonly state: ReadonlySignal<SessionState> = computed(() => this.#state.value)
  readonly account: ReadonlySignal<Account | undefined> = computed(() =>
    'account' in this.#state.value ? this.#state.value.account : undefined,
  )

  constructor(deps: SessionDeps) {
    this.#deps = deps
  }

  /** Resolves with the place to show once someone is signed in; with undefined where the tab leaves or the sign-in failed. */
  async start(address: URL): Promise<string | undefined> {
    if (address.pathname !== SIGNED_IN) {
      await this.#authorize(address.pathname + address.search + address.hash, { prompt: 'none' })
      return undefined
    }
    const pending = this.#takePending()
    const params = address.searchParams
    if (pending === undefined || params.get('state') !== pending.state) {
      // The way back of a tab, or a link that was kept: the code is of no use.
      await this.#authorize('/', { prompt: 'none' })
      return undefined
    }
    return this.#finish(pending, params)
  }

  /** A token that is good for a call now. Throws a `SessionError`. */
  async accessToken(): Promise<string> {
    const tokens = this.#tokens
    if (tokens !== undefined && tokens.expiresAt - this.#deps.now() > AHEAD_MS) {
      return tokens.accessToken
    }
    return (await this.#renew()).accessToken
  }

  /** A token in place of `refused`, which the service did not take. */
  async freshToken(refused: string): Promise<string> {
    const tokens = this.#tokens
    if (tokens !== undefined && tokens.accessToken !== refused) return tokens.accessToken
    return (await this.#renew()).accessToken
  }

  /** Signs in again where the session has ended. */
  signIn(returnTo: string): Promise<void> {
    return this.#authorize(returnTo, {})
  }

  /** Asks for a recent sign-in; the tab returns to that place. */
  stepUp(returnTo: string): Promise<void> {
    return this.#authorize(returnTo, { max_age: String(STEP_UP_MAX_AGE_SECONDS) })
  }

  signOut(): void {
    const { config, origin } = this.#deps
    const query = new URLSearchParams({
      client_id: config.clientId,
      post_logout_redirect_uri: `${origin}/`,
      ui_locales: this.#deps.language(),
    })
    if (this.#tokens !== undefined) query.set('id_token_hint', this.#tokens.idToken)
    this.#tokens = undefined
    this.#leave(`${config.issuer}/logout?${query}`)
  }

  async #authorize(returnTo: string, more: Readonly<Record<string, string>>): Promise<void> {
    const pending: Pending = {
      state: randomText(),
      nonce: randomText(),
      verifier: randomText(),
      returnTo,
      isSilent: more['prompt'] === 'none',
    }
    this.#deps.storage.setItem(PENDING, JSON.stringify(pending))
    const query = new URLSearchParams({
      client_id: this.#deps.config.clientId,
      redirect_uri: this.#deps.origin + SIGNED_IN,
      response_type: 'code',
      scope: 'openid email profile',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await challengeOf(pending.verifier),
      code_challenge_method: 'S256',
      ui_locales: this.#deps.language(),
      ...more,
    })
    this.#leave(`${this.#deps.config.issuer}/oauth2/authorize?${query}`)
  }

  #leave(url: string): void {
    this.#state.value = { kind: 'leaving' }
    this.#deps.leave(url)
  }

  #takePending(): Pending | undefined {
    const text = this.#deps.storage.getItem(PENDING)
    this.#deps.storage.removeItem(PENDING)
    return text === null ? undefined : parsePending(text)
  }

  async #finish(pending: Pending, params: URLSearchParams): Promise<string | undefined> {
    const error = params.get('error')
    if (error !== null && pending.isSilent && NEEDS_PERSON.has(error)) {
      await this.#authorize(pending.returnTo, {})
      return undefined
    }
    const code = params.get('code')
    if (code === null || !this.#isOfIssuer(params)) {
      return this.#fail(params.get('error_description') ?? error ?? 'The response has no code')
    }
    try {
      this.#accept(
        await this.#exchange(
          {
            grant_type: 'authorization_code',
            code,
            redirect_uri: this.#deps.origin + SIGNED_IN,
            code_verifier: pending.verifier,
          },
          pending.nonce,
        ),
      )
    } catch (cause) {
      return this.#fail(cause instanceof Error ? cause.message : String(cause))
    }
    return pending.returnTo
  }

  /** RFC 9207: a code of another issuer is not for us. */
  #isOfIssuer(params: URLSearchParams): boolean {
    const issuer = params.get('iss')
    return issuer === null || issuer === this.#deps.config.issuer
  }

  #fail(message: string): undefined {
    this.#state.value = { kind: 'failed', message }
  }

  #renew(): Promise<Tokens> {
    this.#renewal ??= this.#refresh().finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  async #refresh(): Promise<Tokens> {
    const refreshToken = this.#tokens?.refreshToken
    if (refreshToken === undefined) throw this.#ended(undefined)
    try {
      const tokens = await this.#exchange(
        { grant_type: 'refresh_token', refresh_token: refreshToken },
        undefined,
      )
      return this.#accept({ ...tokens, refreshToken: tokens.refreshToken ?? refreshToken })
    } catch (cause) {
      if (cause instanceof SessionError && cause.isEnded) throw this.#ended(cause)
      throw cause
    }
  }

  #ended(cause: unknown): SessionError {
    const account = this.account.peek()
    this.#tokens = undefined
    if (account !== undefined) this.#state.value = { kind: 'ended', account }
    return new SessionError('The session has ended: sign in again', { isEnded: true, cause })
  }

  #accept(tokens: Tokens): Tokens {
    this.#tokens = tokens
    this.#state.value = { kind: 'signed-in', account: tokens.account }
    return tokens
  }

  async #exchange(
    fields: Readonly<Record<string, string>>,
    nonce: string | undefined,
  ): Promise<Tokens> {
    const { config, now } = this.#deps
    const response = await this.#post(`${config.issuer}/oauth2/token`, {
      ...fields,
      client_id: config.clientId,
    })
    const body: unknown = await response.json().catch(() => undefined)
    if (!response.ok) {
      const told: unknown = Reflect.get(Object(body), 'error_description')
      // Overload and restarts are no answer about the session.
      const isEnded = response.status === 400 || response.status === 401
      throw new SessionError(
        typeof told === 'string' ? told : `The service answered ${response.status}`,
        {
          isEnded,
        },
      )
    }
    return parseTokens(body, { ...config, nonce, now: now() })
  }

  async #post(url: string, fields: Readonly<Record<string, string>>): Promise<Response> {
    try {
      return await this.#deps.fetch(url, {
        method: 'POST',
        credentials: 'omit',
        redirect: 'error',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
      })
    } catch (cause) {
      throw new SessionError('The service cannot be reached', { isEnded: false, cause })
    }
  }
}

function parsePending(text: string): Pending | undefined {
  const value: unknown = JSON.parse(text)
  const field = (name: string): string => String(Reflect.get(Object(value), name) ?? '')
  const returnTo = field('returnTo')
  return {
    state: field('state'),
    nonce: field('nonce'),
    verifier: field('verifier'),
    // A path of this origin, whatever the storage says.
    returnTo: /^\/(?![/\\])/.test(returnTo) ? returnTo : '/',
    isSilent: Reflect.get(Object(value), 'isSilent') === true,
  }
}
