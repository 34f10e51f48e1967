import { AppError } from '#base/app-error.ts'
import { type ErrorCode, statusOf } from '#base/error-status.ts'
import { errorHeaders } from '#http/plugins/errors.ts'
import { type LocalizedText, isLocalized, t } from '#languages/message.ts'
import { duration } from '#languages/spans.ts'

import { capitalized, withFullStop, textOf } from './text.ts'

/** The errors of a form. */
export interface FormErrors {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** About the form as a whole. */
  readonly message: LocalizedText | undefined
  /** By the name of the field. */
  readonly fields: ReadonlyMap<string, readonly LocalizedText[]>
  /** Fields that the message is about. */
  readonly markedFields: readonly string[]
}

export const NO_ERRORS: FormErrors = {
  status: 200,
  headers: {},
  message: undefined,
  fields: new Map(),
  markedFields: [],
}

/** For a form whose token is missing or wrong. */
export const EXPIRED_FORM: FormErrors = {
  ...NO_ERRORS,
  status: 403,
  message: t('page.expired'),
}

/** Failures after which the form is shown again, and the fields that they are about. */
const MARKED_FIELDS: Partial<Record<ErrorCode, readonly string[]>> = {
  ValidationError: [],
  InvalidPassword: ['password'],
  InvalidVerificationCode: ['code'],
  InvalidCredentials: ['username', 'password'],
  TooManyRequests: [],
  PasswordMissing: [],
  ProviderAlreadyLinked: [],
  ProviderNotEnabled: [],
  ServiceUnavailable: [],
}

/** Services call an account's address `email`; forms, like Cognito's, call it `username`. */
const FIELD_NAMES: Readonly<Record<string, string>> = { email: 'username' }

/** The errors to show. Throws the error again when it is not about the form. */
export function formErrorsOf(error: unknown): FormErrors {
  const markedFields = error instanceof AppError ? MARKED_FIELDS[error.code] : undefined
  if (!(error instanceof AppError) || markedFields === undefined) throw error
  const fields = fieldErrors(error)
  const headers = errorHeaders(error)
  // Browsers would prompt for credentials.
  headers.delete('www-authenticate')
  const status = statusOf(error)
  return {
    status: status === 401 ? 400 : status,
    headers: Object.fromEntries(headers),
    message: fields.size > 0 ? undefined : messageOf(error),
    fields,
    markedFields: fields.size > 0 ? [] : markedFields,
  }
}

function fieldErrors({ details = [] }: AppError): ReadonlyMap<string, readonly LocalizedText[]> {
  const errors = new Map<string, LocalizedText[]>()
  for (const fault of details) {
    const { field } = fault
    const name = FIELD_NAMES[field] ?? field
    errors.set(name, [...(errors.get(name) ?? []), capitalized(textOf(fault))])
  }
  return errors
}

function messageOf(error: AppError): LocalizedText {
  if (error.code === 'ServiceUnavailable' && !isLocalized(error.text)) return t('failure.away-text')
  const seconds = error.retryAfterSeconds
  if (error.code !== 'TooManyRequests' || seconds === undefined) {
    return withFullStop(textOf(error))
  }
  return t('error.too-many', { wait: duration(seconds) })
}
