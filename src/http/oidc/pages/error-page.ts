import type { AppError } from '#base/app-error.ts'
import type { RequestScope } from '#http/request-scope.ts'
import { hostName } from '#sites/domain.ts'

import { noticePage } from './notice-page.ts'
import { withFullStop } from './text.ts'

const SIGN_IN =
  /^\/oidc\/[^/]+\/(?:login|signup|confirmUser|forgotPassword|confirmForgotPassword|logout|oauth2\/(?:authorize|idpresponse|provider\/.*))\/?$/
const ONBOARDING = /^\/admin\/public\/onboarding(?:\/|$)/

/** Whether people look at what this path answers. */
export const isForPeople = (path: string): boolean => SIGN_IN.test(path) || ONBOARDING.test(path)

/** A failure that people see, with what an operator needs to find it again. */
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
    reference: [error.code, `Request ${requestId}`],
    status,
    headers: Object.fromEntries(headers),
  })

function titleOf({ code }: AppError, status: number): string {
  if (code === 'MissingToken') return 'This link is incomplete'
  if (status === 404) return 'There is nothing here'
  if (status === 410) return 'This link is no longer valid'
  if (status === 429) return 'Please wait a moment'
  if (status >= 500) return 'Something went wrong'
  return 'This did not work'
}
