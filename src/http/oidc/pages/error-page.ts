import type { AppError } from '#base/app-error.ts'
import { acceptsHtml } from '#http/accepts-html.ts'
import { languageOf } from '#http/request-language.ts'
import { type RequestScope, scopeOf } from '#http/request-scope.ts'
import type { Language } from '#languages/language.ts'
import { type Words, say } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

import { BACK_TO_SITE, type SupportLine, noticePage } from './notice-page.ts'
import { withFullStop, wordsOf } from './text.ts'

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
    site,
    requestId,
    status,
    language,
  }: Pick<RequestScope, 'requestId'> & {
    readonly site: Pick<Site, 'domain' | 'branding'>
    readonly status: number
    readonly language: Language
  },
): Response =>
  noticePage({
    title: titleOf(error, status),
    site,
    language,
    tone: 'bad',
    text: [withFullStop(wordsOf(error))],
    links: [BACK_TO_SITE],
    reference: failureReference(error.code, requestId),
    status,
    headers: Object.fromEntries(headers),
  })

function titleOf({ code }: AppError, status: number): Words {
  if (code === 'MissingToken') return say('failure.incomplete-link')
  if (code === 'InvalidToken') return say('failure.invalid-link')
  if (status === 404) return say('failure.nothing-here')
  if (status === 410) return say('failure.ended-link')
  if (status === 429) return say('failure.wait')
  if (status >= 500) return say('failure.ours')
  return say('failure.other')
}

/** What whoever helps has to know: the error, and how to find the request in the log. */
export const failureReference = (code: string, requestId: string): readonly SupportLine[] => [
  [say('failure.code'), code],
  [say('failure.request'), requestId],
]

/** For an authorization request whose error cannot be sent to the client. */
export const authorizationErrorPage = (
  site: Site,
  refusal: { readonly error: string; readonly description: string },
  request: Request,
): Response =>
  noticePage({
    title: say('failure.sign-in'),
    site,
    language: languageOf(request),
    tone: 'bad',
    text: [say('failure.sign-in-text')],
    reference: [
      ...failureReference(refusal.error, scopeOf(request).requestId),
      [say('failure.reason'), refusal.description],
    ],
    links: [BACK_TO_SITE],
    status: 400,
  })
