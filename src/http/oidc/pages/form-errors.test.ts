import { expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'
import { t } from '#languages/message.ts'

import { formErrorsOf } from './form-errors.ts'

test('says in the reader’s language that a part of the service is away', () => {
  const away = new AppError('ServiceUnavailable', 'The database does not answer: try again', {
    retryAfterSeconds: 2,
  })
  const { status, message } = formErrorsOf(away)
  expect({ status, message: String(message) }).toEqual({
    status: 503,
    message: String(t('failure.away-text')),
  })
})

test('keeps what a service says of it in all languages', () => {
  const own = t('failure.retry', { wait: '2' })
  const { message } = formErrorsOf(new AppError('ServiceUnavailable', own))
  expect(String(message)).toBe(String(own))
})
