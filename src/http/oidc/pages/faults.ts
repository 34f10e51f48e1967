import { AppError, type ErrorCode } from '#base/app-error.ts'
import { statusOf } from '#base/error-status.ts'
import { errorHeaders } from '#http/plugins/errors.ts'

import { capitalized, durationOf, withStop } from './words.ts'

/** What was wrong with a form, as its page shows it. */
export interface Faults {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** About the form as a whole. */
  readonly message: string | undefined
  /** By the name of the field. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  /** Fields that the message is about. */
  readonly marks: readonly string[]
}

export const NO_FAULTS: Faults = {
  status: 200,
  headers: {},
  message: undefined,
  fields: new Map(),
  marks: [],
}

/** A form without the token of its page: too old, or never ours. */
export const OUTDATED: Faults = {
  ...NO_FAULTS,
  status: 403,
  message:
    'This page was open for too long, or your browser keeps no cookies for it. Please try again.',
}

/** Failures after which the form is shown again, and the fields that they are about. */
const SHOWN: Partial<Record<ErrorCode, readonly string[]>> = {
  ValidationError: [],
  InvalidPassword: ['password'],
  InvalidVerificationCode: ['code'],
  InvalidCredentials: ['username', 'password'],
  TooManyRequests: [],
  ServiceUnavailable: [],
}

/** Services call an account's address `email`; forms, like Cognito's, call it `username`. */
const FIELD_NAMES: Readonly<Record<string, string>> = { email: 'username' }

/** The faults to show, or the error again when no form can mend it. */
export function faultsOf(error: unknown): Faults {
  const marks = error instanceof AppError ? SHOWN[error.code] : undefined
  if (!(error instanceof AppError) || marks === undefined) throw error
  const fields = fieldFaults(error)
  const headers = errorHeaders(error)
  // Nobody signs in here with a header.
  headers.delete('www-authenticate')
  const status = statusOf(error)
  return {
    status: status === 401 ? 400 : status,
    headers: Object.fromEntries(headers),
    message: fields.size > 0 ? undefined : messageOf(error),
    fields,
    marks: fields.size > 0 ? [] : marks,
  }
}

function fieldFaults({ details = [] }: AppError): ReadonlyMap<string, readonly string[]> {
  const faults = new Map<string, string[]>()
  for (const { field, message } of details) {
    const name = FIELD_NAMES[field] ?? field
    faults.set(name, [...(faults.get(name) ?? []), capitalized(message)])
  }
  return faults
}

function messageOf(error: AppError): string {
  const seconds = error.retryAfterSeconds
  if (error.code !== 'TooManyRequests' || seconds === undefined) return withStop(error.message)
  return `There were too many tries. Please wait ${durationOf(seconds)}, then try again.`
}
