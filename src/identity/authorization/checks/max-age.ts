import type { Asked } from '#identity/authorization/asked.ts'

import { type Check, invalidRequest } from './check.ts'

const SECONDS = /^\d{1,10}$/

export const wholeMaxAge: Check = ({ values }) =>
  SECONDS.test(values.get('max_age') ?? '0')
    ? undefined
    : invalidRequest('max_age is a number of seconds')

export function maxAgeOf({ values }: Asked): number | undefined {
  const seconds = values.get('max_age')
  return seconds === undefined ? undefined : Number(seconds)
}
