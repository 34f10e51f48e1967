/** A key of an account, as its owner sees it. */
export interface Passkey {
  /** base64url. */
  readonly credentialId: string
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

export const MAX_PASSKEYS = 20

/** How long a challenge is good: as long as a page may lie open before its button is pressed. */
export const CHALLENGE_MS = 3_600_000
