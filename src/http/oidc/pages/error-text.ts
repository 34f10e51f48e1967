import type { AppError } from '#base/app-error.ts'
import { type ErrorCode, statusOf } from '#base/error-status.ts'
import type { TextKey } from '#languages/catalogues.ts'
import { type LocalizedText, isLocalized, t } from '#languages/message.ts'
import { duration } from '#languages/spans.ts'

import { withFullStop } from './text.ts'

interface PageText {
  readonly title: TextKey
  readonly text: TextKey
}

const OTHER: PageText = { title: 'failure.other', text: 'failure.other-text' }
const OURS: PageText = { title: 'failure.ours', text: 'failure.ours-text' }

const BY_CODE: Partial<Record<ErrorCode, PageText>> = {
  SiteNotFound: { title: 'failure.no-site', text: 'failure.no-site-text' },
  MissingToken: { title: 'failure.incomplete-link', text: 'failure.other-text' },
  InvalidToken: { title: 'failure.invalid-link', text: 'failure.other-text' },
}

const BY_STATUS: Readonly<Record<number, PageText>> = {
  401: { title: 'failure.sign-in-first', text: 'failure.sign-in-first-text' },
  403: { title: 'failure.not-allowed', text: 'failure.not-allowed-text' },
  404: { title: 'failure.nothing-here', text: 'failure.nothing-here-text' },
  410: { title: 'failure.ended-link', text: 'failure.not-allowed-text' },
  421: { title: 'failure.elsewhere', text: 'failure.elsewhere-text' },
  429: { title: 'failure.wait', text: 'failure.wait-text' },
  503: { title: 'failure.away', text: 'failure.away-text' },
}

/** What a page says of an error. */
export interface PageErrorText {
  readonly title: LocalizedText
  readonly text: readonly LocalizedText[]
  /** What programs read: for the developer of whatever led here. */
  readonly reason: string | undefined
}

/** The error's own text where it is for people, in their language or in that of the site's code; else that of its status. */
export function pageErrorText(error: AppError): PageErrorText {
  const status = statusOf(error)
  const { title, text } = BY_CODE[error.code] ?? BY_STATUS[status] ?? (status < 500 ? OTHER : OURS)
  const own = ownText(error)
  const isGeneral = own === undefined && status < 500 && error.code !== 'RouteNotFound'
  return {
    title: t(title),
    text: [own === undefined ? t(text) : withFullStop(own), ...retryText(error)],
    reason: isGeneral ? error.message : undefined,
  }
}

const ownText = ({ text, thrown, message }: AppError): LocalizedText | undefined => {
  if (thrown !== undefined) return message
  return isLocalized(text) ? text : undefined
}

const retryText = ({ retryAfterSeconds }: AppError): readonly LocalizedText[] =>
  retryAfterSeconds === undefined ? [] : [t('failure.retry', { wait: duration(retryAfterSeconds) })]
