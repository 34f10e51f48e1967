import { type ParameterCheck, invalidRequestError } from './check.ts'

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
