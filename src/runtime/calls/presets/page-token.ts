import { AppError } from '#base/app-error.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'

/** Page tokens that tell their holder nothing: a place in a list may be the key of another caller's item. */
export class SealedPageTokens {
  readonly #key: Buffer

  /** 32 bytes. */
  constructor(key: Buffer) {
    this.#key = key
  }

  /** `scope` says whose list it is; the same words open it. */
  seal(scope: readonly string[], token: string): string {
    return encrypt(this.#key, JSON.stringify(scope), Buffer.from(token)).toString('base64url')
  }

  open(scope: readonly string[], sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64url')
    const token = decrypt(this.#key, JSON.stringify(scope), bytes)
    if (token) return token.toString()
    throw new AppError(
      'InvalidNextToken',
      'nextToken does not belong to this list: start again without it',
    )
  }
}
