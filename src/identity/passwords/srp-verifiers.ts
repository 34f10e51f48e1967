/** What SRP needs instead of a password: an eavesdropper's secret, so it is kept sealed. */
export interface SrpVerifier {
  readonly salt: Buffer
  readonly verifier: Buffer
}

/** What a verifier is made of, and the network address that the work is done for. */
export interface SrpSecret {
  readonly email: string
  readonly password: string
  readonly address: string
}

/**
 * Makes verifiers for the Cognito API. The account's address, in its canonical spelling, is what Cognito's clients hash as
 * the user's name (`USER_ID_FOR_SRP`): it is the token's `username`, and naming anything else would tell strangers more.
 */
export interface SrpVerifiers {
  derive(userPoolId: string, secret: SrpSecret): SrpVerifier | Promise<SrpVerifier>
  /** False for a verifier that is missing, or was made for the account's former address: the next sign-in makes another. */
  fits(verifier: SrpVerifier | undefined, userPoolId: string, email: string): boolean
}

/** What a verifier is sealed for, with the key of its site. */
export const srpSealContext = (userPoolId: string, sub: string): string =>
  `srp:${userPoolId}:${sub}`
