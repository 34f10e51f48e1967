import type { ParameterName } from '#identity/authorization/authorization-parameters.ts'

import { type ParameterCheck, invalidRequestError } from './check.ts'

/** What is given back to the client, stored, or shown. */
const LIMITS = { state: 2048, nonce: 512, login_hint: 320 } as const satisfies Partial<
  Record<ParameterName, number>
>
const NAMES = ['state', 'nonce', 'login_hint'] as const

export const plainText: ParameterCheck = ({ values }) => {
  const name = NAMES.find((each) => !isPlain(values.get(each) ?? '', LIMITS[each]))
  return name === undefined
    ? undefined
    : invalidRequestError(
        `${name} takes ${LIMITS[name]} characters, none of them control characters`,
      )
}

const isPlain = (text: string, limit: number): boolean =>
  text.length <= limit && !/\p{Cc}/u.test(text)
