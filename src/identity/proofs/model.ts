import type { ProofAction } from '#identity/proof-action.ts'

/** Who proves, for what, and in which sign-in: the id of a session or of a token's family. */
export interface ProofSubject {
  readonly sub: string
  readonly signIn: string
  readonly action: ProofAction
}

/** What the owner of an account gives in the very request that moves it. */
export interface Proof {
  readonly currentPassword?: string | undefined
  /** What a device signed, and the sealed challenge that it signed. */
  readonly passkey?: { readonly credential: string; readonly challenge: string } | undefined
  /** A mailed code, for accounts that have neither. */
  readonly proofCode?: string | undefined
}

/** What an account can be proven with; where it is neither, a mailed code is. */
export interface ProofMethods {
  readonly email: string
  readonly password: boolean
  readonly passkey: boolean
}
