import { createHash, timingSafeEqual } from 'node:crypto'

import { OAuthError } from './oauth-error.ts'

/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

/** A verifier of another shape is a request that is wrong, not a grant that is (RFC 7636 section 4.6). */
export function requireVerifierShape(verifier: string | undefined): void {
  if (verifier !== undefined && !VERIFIER.test(verifier)) {
    throw new OAuthError(
      'invalid_request',
      'code_verifier is 43 to 128 characters: letters, digits, "-", ".", "_" and "~"',
    )
  }
}

export function matchesChallenge(verifier: string | undefined, challenge: string): boolean {
  if (verifier === undefined) return false
  const made = createHash('sha256').update(verifier).digest('base64url')
  return (
    made.length === challenge.length && timingSafeEqual(Buffer.from(made), Buffer.from(challenge))
  )
}
