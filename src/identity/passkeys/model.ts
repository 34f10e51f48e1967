/** A key of an account, as its owner sees it. */
export interface Passkey {
  /** base64url. */
  readonly credentialId: string
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

export const MAX_PASSKEYS = 20
