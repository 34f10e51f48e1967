import type { ParameterName } from '#identity/authorization/authorization-parameters.ts'

import { type ParameterCheck, invalidRequestError } from './check.ts'

export const singleValues: ParameterCheck = ({ repeated: [name] }) =>
  name === undefined ? undefined : invalidRequestError(`${name} is there more than once`)

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

/** RFC 7636 section 4.2: base64url of a SHA-256. */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** PKCE with S256, always; left out, `code_challenge_method` would mean `plain`. */
export const pkceChallenge: ParameterCheck = ({ values }) => {
  const challenge = values.get('code_challenge')
  if (challenge === undefined)
    return invalidRequestError('code_challenge is missing: PKCE is required')
  if (values.get('code_challenge_method') !== 'S256') {
    return invalidRequestError('code_challenge_method must be "S256"')
  }
  return S256_CHALLENGE.test(challenge)
    ? undefined
    : invalidRequestError('code_challenge must be the base64url of a SHA-256: 43 characters')
}
