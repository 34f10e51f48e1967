/** What a proof of the owner is for: one of one kind is worth nothing for another. */
export type ProofAction = 'address' | 'app' | 'deletion' | 'google' | 'passkey' | 'password'
