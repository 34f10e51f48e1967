/** What SRP needs instead of a password: an eavesdropper's secret, so it is kept sealed. */
export interface SrpVerifier {
  readonly salt: Buffer
  readonly verifier: Buffer
}

/** Makes verifiers for the Cognito API. `sub` is what Cognito's clients hash as the user's name (`USER_ID_FOR_SRP`). */
export interface SrpVerifiers {
  derive(userPoolId: string, sub: string, password: string): SrpVerifier | Promise<SrpVerifier>
}
