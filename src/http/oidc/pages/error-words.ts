import type { AppError } from '#base/app-error.ts'
import { type ErrorCode, statusOf } from '#base/error-status.ts'
import type { TextKey } from '#languages/catalogues.ts'
import { type Words, isLocalized, say } from '#languages/message.ts'
import { duration } from '#languages/spans.ts'

import { withFullStop } from './text.ts'

interface PageWords {
  readonly title: TextKey
  readonly text: TextKey
}

const OTHER: PageWords = { title: 'failure.other', text: 'failure.other-text' }
const OURS: PageWords = { title: 'failure.ours', text: 'failure.ours-text' }

const BY_CODE: Partial<Record<ErrorCode, PageWords>> = {
  SiteNotFound: { title: 'failure.no-site', text: 'failure.no-site-text' },
  MissingToken: { title: 'failure.incomplete-link', text: 'failure.other-text' },
  InvalidToken: { title: 'failure.invalid-link', text: 'failure.other-text' },
}

const BY_STATUS: Readonly<Record<number, PageWords>> = {
  401: { title: 'failure.sign-in-first', text: 'failure.sign-in-first-text' },
  403: { title: 'failure.not-allowed', text: 'failure.not-allowed-text' },
  404: { title: 'failure.nothing-here', text: 'failure.nothing-here-text' },
  410: { title: 'failure.ended-link', text: 'failure.not-allowed-text' },
  421: { title: 'failure.elsewhere', text: 'failure.elsewhere-text' },
  429: { title: 'failure.wait', text: 'failure.wait-text' },
  503: { title: 'failure.away', text: 'failure.away-text' },
}

/** What a page says of an error. */
export interface ErrorWords {
  readonly title: Words
  readonly text: readonly Words[]
  /** What programs read: for the developer of whatever led here. */
  readonly reason: string | undefined
}

/** The error's own text where it is for people, in their language or in that of the site's code; else that of its status. */
export function errorWords(error: AppError): ErrorWords {
  const status = statusOf(error)
  const { title, text } = BY_CODE[error.code] ?? BY_STATUS[status] ?? (status < 500 ? OTHER : OURS)
  const own = ownText(error)
  const isGeneral = own === undefined && status < 500 && error.code !== 'RouteNotFound'
  return {
    title: say(title),
    text: [own === undefined ? say(text) : withFullStop(own), ...retryText(error)],
    reason: isGeneral ? error.message : undefined,
  }
}

const ownText = ({ text, thrown, message }: AppError): Words | undefined => {
  if (thrown !== undefined) return message
  return isLocalized(text) ? text : undefined
}

const retryText = ({ retryAfterSeconds }: AppError): readonly Words[] =>
  retryAfterSeconds === undefined
    ? []
    : [say('failure.retry', { wait: duration(retryAfterSeconds) })]
