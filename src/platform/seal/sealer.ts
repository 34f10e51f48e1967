/**
 * Secrets at rest: AES-256-GCM, 12 random bytes of nonce, the context as additional data. A site's secrets are sealed
 * with the site's own key, which is stored wrapped by the instance's master key.
 */
export interface Sealer {
  /** A fresh site key, wrapped for storage. */
  newSiteKey(siteId: string): Buffer
  /** `context` says what the secret is (`signing-key:{kid}`); the same words open it, others do not. */
  seal(key: WrappedSiteKey, context: string, plaintext: Uint8Array): Buffer
  open(key: WrappedSiteKey, context: string, sealed: Uint8Array): Buffer
  /** A key for one purpose of the instance, derived from the master key (HKDF-SHA-256): page tokens, signed URLs. */
  derive(purpose: string): Buffer
}

export interface WrappedSiteKey {
  readonly siteId: string
  readonly wrappedKey: Uint8Array
}
