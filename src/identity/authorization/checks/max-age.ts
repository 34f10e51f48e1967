import type { AuthorizationParameters } from '#identity/authorization/authorization-parameters.ts'

import { type ParameterCheck, invalidRequestError } from './check.ts'

const SECONDS = /^\d{1,10}$/

export const wholeMaxAge: ParameterCheck = ({ values }) =>
  SECONDS.test(values.get('max_age') ?? '0')
    ? undefined
    : invalidRequestError('max_age is a number of seconds')

export function maxAgeOf({ values }: AuthorizationParameters): number | undefined {
  const seconds = values.get('max_age')
  return seconds === undefined ? undefined : Number(seconds)
}
