import type { AppError } from '#base/app-error.ts'
import { acceptsHtml, asksForPage } from '#http/accepts-html.ts'
import { fetchContextOf } from '#http/fetch-context.ts'
import type { PoolHttpRequest } from '#http/plugins/site.ts'
import { languageOf } from '#http/request-language.ts'
import { scopeOf } from '#http/request-scope.ts'
import { t } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

import { pageErrorText } from './error-text.ts'
import { html } from './html.ts'
import {
  type LinkedSite,
  type NoticeLink,
  type SupportLine,
  backToSite,
  noticePage,
} from './notice-page.ts'

const SIGN_IN =
  /^\/oidc\/[^/]+\/(?:login|signup|confirmUser|forgotPassword|confirmForgotPassword|logout(?:\/former)?|mfa|mfaSetup|passkey|consent|account(?:\/[a-z-]+)*|oauth2\/(?:authorize|idpresponse|provider\/.*))\/?$/
const MAILED_LINK = /^\/admin\/public\/(?:onboarding|address)(?:\/|$)/
/** It answers programs, too. */
const FORWARDING = /^\/admin\/public\/forwarding\/verify\/?$/
/** Programs find nothing there. */
const ENTRANCE = /^\/admin(?:\/callback)?\/?$/
/** Of errors that may be over when the same page is asked for again. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 500, 502, 503, 504, 507])

/** Whether the response to a request is shown to people. */
export const isForPeople = (path: string, request: Request): boolean =>
  SIGN_IN.test(path) ||
  MAILED_LINK.test(path) ||
  (FORWARDING.test(path) && (request.method === 'POST' || acceptsHtml(request))) ||
  (ENTRANCE.test(path) && fetchContextOf(request) !== 'unsaid') ||
  asksForPage(request)

/** A page for an error, with the request's id for the operator's log. */
export function errorPage(
  error: AppError,
  headers: Headers,
  { request, site, status, baseUrl }: ErrorRequest,
): Response {
  const { title, text, reason } = pageErrorText(error)
  headers.set('vary', 'accept, accept-language')
  const { requestId } = scopeOf(request)
  return noticePage({
    title,
    site,
    language: languageOf(request),
    tone: 'bad',
    text,
    links: linksOf(error, { request, site, status, baseUrl }),
    reference: [
      ...failureReference(error.thrown?.code ?? error.code, requestId),
      ...(reason === undefined ? [] : [reasonLine(reason)]),
    ],
    status,
    headers: Object.fromEntries(headers),
  })
}

interface ErrorRequest {
  readonly request: Request
  readonly site: LinkedSite & Pick<Site, 'branding'>
  readonly status: number
  /** Of the installation. */
  readonly baseUrl: string
}

/** Where a person may go from there. An empty `href` is the page itself. */
function linksOf(
  { code, fields }: AppError,
  { request, site, status, baseUrl }: ErrorRequest,
): readonly NoticeLink[] {
  if (code === 'SiteNotFound') return []
  const elsewhere = code === 'MisdirectedRequest' && fields?.['baseUrl']
  if (typeof elsewhere === 'string') return [{ href: elsewhere, label: elsewhere }]
  const mayRepeat = RETRYABLE.has(status) && ['GET', 'HEAD'].includes(request.method)
  const again = { href: '', label: t('failure.try-again') }
  return [...(mayRepeat ? [again] : []), backToSite(site, baseUrl)]
}

/** What support has to know: the error, and how to find the request in the log. */
export const failureReference = (code: string, requestId: string): readonly SupportLine[] => [
  [t('failure.code'), code],
  [t('failure.request'), requestId],
]

/** What programs read: always English. */
const reasonLine = (reason: string): SupportLine => [
  t('failure.reason'),
  html`<span lang="en">${reason}</span>`,
]

/** For an authorization request whose error cannot be sent to the client. */
export const authorizationErrorPage = (
  { site, pool, request }: Pick<PoolHttpRequest, 'site' | 'pool' | 'request'>,
  refusal: { readonly error: string; readonly description: string },
): Response =>
  noticePage({
    title: t('failure.sign-in'),
    site,
    language: languageOf(request),
    tone: 'bad',
    text: [t('failure.sign-in-text')],
    reference: [
      ...failureReference(refusal.error, scopeOf(request).requestId),
      reasonLine(refusal.description),
    ],
    links: [backToSite(site, pool.issuer)],
    status: 400,
  })
