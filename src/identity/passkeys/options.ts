import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { User } from '#identity/users/model.ts'

import type { Passkey } from './model.ts'

/** How long a device waits for its owner. */
const TIMEOUT_MS = 5 * 60_000
/** ES256, EdDSA and RS256 (RFC 9053): what every device has one of. */
const ALGORITHMS = [-7, -8, -257]

/**
 * `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. It names no keys, so that it does not reveal who has some: devices find
 * theirs.
 */
export const passkeyRequestOptions = (
  { relyingPartyId }: Pick<Pool, 'relyingPartyId'>,
  challenge: string,
) => ({
  challenge,
  rpId: relyingPartyId,
  userVerification: 'required',
  timeout: TIMEOUT_MS,
})

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn, for an account and the keys that it has. */
export const passkeyCreationOptions = (
  { site, pool }: Pick<PoolRequest, 'site' | 'pool'>,
  { sub, email, name }: Pick<User, 'sub' | 'email'> & { readonly name?: string | null },
  { known, challenge }: { readonly known: readonly Passkey[]; readonly challenge: string },
) => ({
  challenge,
  rp: { id: pool.relyingPartyId, name: site.domain },
  user: { id: Buffer.from(sub).toString('base64url'), name: email, displayName: name ?? email },
  pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
  authenticatorSelection: {
    requireResidentKey: true,
    residentKey: 'required',
    userVerification: 'required',
  },
  excludeCredentials: known.map(({ credentialId: id }) => ({ type: 'public-key', id })),
  attestation: 'none',
  timeout: TIMEOUT_MS,
})
