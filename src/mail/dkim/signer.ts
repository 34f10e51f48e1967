import { piecesInTurns } from '#base/pieces.ts'

import type { DkimKeys } from './keys.ts'
import { digestMessage } from './message-digest.ts'
import { signedField, unsignedField } from './signature.ts'

/** Hashed within a millisecond. */
const PIECE_BYTES = 64 * 1024
const ALGORITHM = 'RSASSA-PKCS1-v1_5'

/** In whose name a message is signed. */
export interface DkimIdentity {
  readonly siteId: string
  /** Of the address in From. */
  readonly domain: string
  /** When the message was made: the same time, bytes and key give the same signature. */
  readonly signedAt: Date
}

/** Signs the mail of sites: RFC 6376, `rsa-sha256` (RFC 8301), relaxed/relaxed. */
export class DkimSigner {
  readonly #keys: Pick<DkimKeys, 'signingKey'>

  constructor(keys: Pick<DkimKeys, 'signingKey'>) {
    this.#keys = keys
  }

  /**
   * The `DKIM-Signature` field with its line end, to be sent before the message. Reads the message once and holds no more of
   * it than its head. Rejects when it has no From, or a head of more than 1 MiB.
   */
  async sign(
    { siteId, domain, signedAt }: DkimIdentity,
    open: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<string> {
    const { selector, key } = await this.#keys.signingKey(siteId)
    const { head, bodyHash } = await digestMessage(open())
    const { field, input } = unsignedField(head, { domain, selector, signedAt, bodyHash })
    const signature = await crypto.subtle.sign(ALGORITHM, key, Buffer.from(input, 'latin1'))
    return signedField(field, Buffer.from(signature).toString('base64'))
  }

  /** The message with its signature before it. Others have their turn between its pieces. */
  async signed(identity: DkimIdentity, message: Uint8Array): Promise<Uint8Array> {
    const field = await this.sign(identity, () => piecesInTurns(message, PIECE_BYTES))
    return Buffer.concat([Buffer.from(field), message])
  }
}
