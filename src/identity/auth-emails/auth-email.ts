import type { PoolKind } from '#identity/pool-kind.ts'
import type { ProofAction } from '#identity/proof-action.ts'

/** Every message that identity sends, with what its words need. */
export type AuthEmail = { readonly to: string } & (
  | { readonly kind: 'invite'; readonly url: string; readonly expiresAt: Date }
  /** The code that proves the address of a sign-up; branding may replace subject and HTML. */
  | { readonly kind: 'verification'; readonly pool: PoolKind; readonly code: string }
  | { readonly kind: 'reset'; readonly pool: PoolKind; readonly code: string }
  /** The code that proves the owner of an account without password and passkey, for one change of it. */
  | {
      readonly kind: 'proof'
      readonly pool: PoolKind
      readonly code: string
      readonly action: ProofAction
    }
  | { readonly kind: 'password-changed'; readonly pool: PoolKind }
  /** To the owner of an account whose address was used for another sign-up. */
  | { readonly kind: 'account-exists'; readonly pool: PoolKind }
  /** To the account's address, when a provider was linked. */
  | { readonly kind: 'provider-linked'; readonly provider: string }
  /** To the account's address, when its owner took a provider off again. */
  | { readonly kind: 'provider-unlinked'; readonly provider: string }
  /** To the owner of an address that was requested for another account. */
  | { readonly kind: 'address-taken'; readonly pool: PoolKind }
  /** To the address of an account that its owner deletes, with the link that takes it back. */
  | { readonly kind: 'account-deleting'; readonly url: string; readonly expiresAt: Date }
  /** To the address of an account that its owner has deleted, once it is gone. */
  | { readonly kind: 'account-deleted' }
  /** To the account's address, when an authenticator app was added or taken off. */
  | { readonly kind: 'second-factor-on'; readonly pool: PoolKind }
  | { readonly kind: 'second-factor-off'; readonly pool: PoolKind }
  /** To the account's address, when a passkey was added or removed. */
  | { readonly kind: 'passkey-added'; readonly pool: PoolKind }
  | { readonly kind: 'passkey-removed'; readonly pool: PoolKind }
  /** To the account's address, when wrong codes were entered with the right password for a while. */
  | { readonly kind: 'second-factor-guessed'; readonly pool: PoolKind }
  /** To the address that an account is to have. */
  | {
      readonly kind: 'address-proof'
      readonly pool: PoolKind
      readonly url: string
      readonly expiresAt: Date
    }
  /** To the address that was replaced; with the link that takes the account back, where there is one. */
  | {
      readonly kind: 'address-changed'
      readonly pool: PoolKind
      readonly undo?: { readonly url: string; readonly expiresAt: Date }
    }
)
