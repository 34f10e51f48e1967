import type { AppError } from '#base/app-error.ts'
import { acceptsHtml } from '#http/accepts-html.ts'
import { type RequestScope, scopeOf } from '#http/request-scope.ts'
import { hostName } from '#sites/domain.ts'
import type { Site } from '#sites/site.ts'

import { BACK_TO_SITE, type SupportLine, noticePage } from './notice-page.ts'
import { withFullStop } from './text.ts'

const SIGN_IN =
  /^\/oidc\/[^/]+\/(?:login|signup|confirmUser|forgotPassword|confirmForgotPassword|logout|mfa|mfaSetup|passkey|consent|account(?:\/[a-z]+)?|oauth2\/(?:authorize|idpresponse|provider\/.*))\/?$/
const MAILED_LINK = /^\/admin\/public\/(?:onboarding|address)(?:\/|$)/

const FORWARDING = /^\/admin\/public\/forwarding\/verify\/?$/

/** Whether the response to a request is shown to people. The path of forwarding answers programs, too. */
export const isForPeople = (path: string, request: Request): boolean =>
  SIGN_IN.test(path) ||
  MAILED_LINK.test(path) ||
  (FORWARDING.test(path) && (request.method === 'POST' || acceptsHtml(request)))

/** A page for a failure, with the request's id for the operator's log. */
export const errorPage = (
  error: AppError,
  headers: Headers,
  {
    host,
    requestId,
    status,
  }: Pick<RequestScope, 'host' | 'requestId'> & { readonly status: number },
): Response =>
  noticePage({
    title: titleOf(error, status),
    site: { domain: hostName(host) },
    tone: 'bad',
    text: [withFullStop(error.message)],
    links: [BACK_TO_SITE],
    reference: failureReference(error.code, requestId),
    status,
    headers: Object.fromEntries(headers),
  })

function titleOf({ code }: AppError, status: number): string {
  if (code === 'MissingToken') return 'This link is incomplete'
  if (code === 'InvalidToken') return 'This link is not valid'
  if (status === 404) return 'There is nothing here'
  if (status === 410) return 'This link is no longer valid'
  if (status === 429) return 'Please wait a moment'
  if (status >= 500) return 'Something went wrong'
  return 'This did not work'
}

/** What whoever helps has to know: the error, and how to find the request in the log. */
export const failureReference = (code: string, requestId: string): readonly SupportLine[] => [
  ['Error code', code],
  ['Request', requestId],
]

/** For an authorization request whose error cannot be sent to the client. */
export const authorizationErrorPage = (
  site: Site,
  refusal: { readonly error: string; readonly description: string },
  request: Request,
): Response =>
  noticePage({
    title: 'This sign-in cannot go on',
    site,
    tone: 'bad',
    text: [
      'The application that sent you here asked for something that is not allowed. Go back to it and try again.',
    ],
    reference: [
      ...failureReference(refusal.error, scopeOf(request).requestId),
      ['Reason', refusal.description],
    ],
    links: [BACK_TO_SITE],
    status: 400,
  })
