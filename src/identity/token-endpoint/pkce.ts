import { hash } from 'node:crypto'

import { isSameText } from '#base/same-text.ts'

import { OAuthError } from './oauth-error.ts'

/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

/** A malformed verifier is an `invalid_request`, a wrong one an `invalid_grant` (RFC 7636 section 4.6). */
export function requireVerifierShape(verifier: string | undefined): void {
  if (verifier !== undefined && !VERIFIER.test(verifier)) {
    throw new OAuthError(
      'invalid_request',
      'code_verifier is 43 to 128 characters: letters, digits, "-", ".", "_" and "~"',
    )
  }
}

export const matchesChallenge = (verifier: string | undefined, challenge: string): boolean =>
  verifier !== undefined && isSameText(hash('sha256', verifier, 'base64url'), challenge)
