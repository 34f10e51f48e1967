import type { UserKey } from '#identity/user-key.ts'

/** A code of an account: of a forgotten password, of one action in one sign-in, or of a new address. */
export interface UserCodeKey extends UserKey {
  readonly purpose: 'reset' | 'proof' | 'address'
  /** Who requested it, and may use it. */
  readonly requester: string
}

/** How the requester of each program begins that has no cookie to be known by. */
export const OF_NETWORK = 'network '

export const networkRequester = (network: string): string => `${OF_NETWORK}${network}`
