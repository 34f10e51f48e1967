import type { Language } from '#base/language.ts'
import type { AppContext } from '#context'
import { cookieOf, poolScope, setCookie } from '#http/oidc/cookies.ts'
import { type CsrfSession, csrfSession } from '#http/oidc/csrf.ts'
import { FLOW, Flows } from '#http/oidc/flow.ts'
import { seeOther } from '#http/oidc/see-other.ts'
import { readSession } from '#http/oidc/session-cookie.ts'
import type { PoolPageRequest } from '#http/plugins/pages.ts'
import { UI_LOCALES, askedLanguageOf } from '#http/request-language.ts'
import { ACCOUNT_CLIENT_ID, type AccountPage } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Session } from '#identity/sessions/model.ts'
import { languageOfLocales } from '#languages/language.ts'

const LANGUAGE_COOKIE = 'croft_language'

/** What was done, for the account's page to say. */
export type AccountNotice =
  | 'name'
  | 'password'
  | 'google-unlinked'
  | 'totp-off'
  | 'passkey-added'
  | 'passkey-removed'
  | 'application-removed'
  | 'session-ended'
  | 'sessions-ended'
  | 'address'

/** A request of a user who is signed in, to a page of their account. */
export interface AccountRequest extends PoolPageRequest {
  readonly session: Session
  readonly csrf: CsrfSession
  /** What the page before has done. */
  readonly notice: { readonly done: string; readonly detail?: string | undefined } | undefined
  /** A redirect to the account's page, which says what was done. */
  readonly done: (notice: AccountNotice, detail?: string) => Response
}

/** Reads requests to the account's pages. Returns the redirect to the sign-in instead for a browser without a session. */
function accountReader({ sealer, clock, sessions }: AppContext) {
  const formKey = sealer.derive('sign-in-forms')
  const flows = new Flows(sealer.derive('sign-in-flows'), clock)
  return async (
    poolRequest: PoolPageRequest,
    page: AccountPage,
  ): Promise<AccountRequest | Response> => {
    const { site, pool, request } = poolRequest
    const session = await sessions.find(site, pool, readSession(request, pool))
    const asked = askedLanguage(poolRequest)
    if (!session) return toSignIn(pool, page, asked)
    const form = csrfSession(formKey, request, `${pool.issuer}/account`, poolScope(pool))
    const csrf = { ...form, cookies: [...form.cookies, ...asked.cookies] }
    const browser = `${pool.issuer}\naccount\n${csrf.secret}`
    const sealed = new URL(request.url).searchParams.get(FLOW)
    const flow = sealed === null ? undefined : flows.open(sealed, browser)
    return {
      ...poolRequest,
      language: asked.language ?? poolRequest.language,
      session,
      csrf,
      notice: flow?.step === 'account' ? flow : undefined,
      done(done, detail) {
        const next = { step: 'account', done, ...(detail !== undefined && { detail }) } as const
        return seeOther(
          `${pathTo(pool, 'account')}?${FLOW}=${flows.seal(next, browser)}`,
          csrf.cookies,
        )
      },
    }
  }
}

/** Answers requests with a session; any other is redirected to the sign-in. */
export function ownerOnly(context: AppContext) {
  const open = accountReader(context)
  return (page: AccountPage, answer: (account: AccountRequest) => Promise<Response> | Response) =>
    async ({ poolRequest }: { readonly poolRequest: PoolPageRequest }): Promise<Response> => {
      const account = await open(poolRequest, page)
      return account instanceof Response ? account : answer(account)
    }
}

export const pathTo = ({ issuer }: Pick<Pool, 'issuer'>, page: string): string =>
  `${new URL(issuer).pathname}/${page}`

interface AskedLanguage {
  readonly language: Language | undefined
  /** `Set-Cookie` that keeps it. */
  readonly cookies: readonly string[]
}

/** What the application has asked for that led here: links between these pages do not say it, so the browser keeps it till it is closed. */
function askedLanguage({ pool, request }: PoolPageRequest): AskedLanguage {
  const language = askedLanguageOf(request)
  if (language !== undefined) {
    return { language, cookies: [setCookie(LANGUAGE_COOKIE, language, poolScope(pool))] }
  }
  const kept = cookieOf(request, LANGUAGE_COOKIE, poolScope(pool))
  return { language: languageOfLocales(kept), cookies: [] }
}

/** A sign-in that leads back to the page. */
function toSignIn(pool: Pool, page: AccountPage, { language, cookies }: AskedLanguage): Response {
  const query = new URLSearchParams({
    client_id: ACCOUNT_CLIENT_ID,
    redirect_uri: `${pool.issuer}/${page}`,
    response_type: 'code',
    scope: 'openid',
    ...(language !== undefined && { [UI_LOCALES]: language }),
  })
  const location = `${pathTo(pool, 'oauth2/authorize')}?${query.toString()}`
  return seeOther(location, cookies)
}
