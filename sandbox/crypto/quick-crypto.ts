import { hash } from 'node:crypto'

import { aes, rsaOaep } from './ciphers.ts'
import { CryptoFailure } from './crypto-failure.ts'
import { CryptoFields } from './crypto-fields.ts'
import { agree, hkdf, isQuickPbkdf2, pbkdf2 } from './derivations.ts'
import { jwkOf, readKey } from './key-forms.ts'
import { quickPair } from './key-pairs.ts'
import { MAX_CRYPTO_BYTES } from './limits.ts'
import { ParsedKeys } from './parsed-keys.ts'
import { hmacBytes, signBytes, verifyBytes } from './signatures.ts'

/** Bytes, or text: JSON, or a failure's. */
type CryptoAnswer = ArrayBuffer | string
type Operation = (
  fields: CryptoFields,
  parts: readonly Uint8Array[],
  keys: ParsedKeys,
) => Uint8Array | string

const OPERATIONS = {
  aes,
  agree,
  digest: (fields, [data = new Uint8Array(0)]) => hash(fields.hash(), data, 'buffer'),
  generate: quickPair,
  hkdf,
  hmac: hmacBytes,
  jwkOfPrivate: (_fields, [der = new Uint8Array(0)], keys) => jwkOf(keys.privateKey(der)),
  jwkOfPublic: (_fields, [der = new Uint8Array(0)], keys) => jwkOf(keys.publicKey(der)),
  pbkdf2: quickPbkdf2,
  readKey: (fields, [data = new Uint8Array(0)]) => readKey(fields, data),
  rsaOaep,
  sign: signBytes,
  verify: verifyBytes,
} as const satisfies Readonly<Record<string, Operation>>

export type CryptoOperation = keyof typeof OPERATIONS

/** Says to the guest that it takes longer, and is to be asked for in another way. */
const LATER = 'later'

/**
 * Cryptography of a few milliseconds, which an isolate waits for: the time is that of its call. It is asked with JSON and
 * bytes, neither of which is trusted, and keeps nothing of a site but parsed keys.
 */
export class QuickCrypto {
  readonly #keys = new ParsedKeys()

  /** Never throws. */
  answer(operation: unknown, request: unknown, parts: readonly unknown[]): CryptoAnswer {
    try {
      return this.#answer(operation, request, parts)
    } catch (error) {
      const failure =
        error instanceof CryptoFailure
          ? error
          : new CryptoFailure('OperationError', 'The operation is not one that is known')
      return failure.text
    }
  }

  #answer(operation: unknown, request: unknown, parts: readonly unknown[]): CryptoAnswer {
    if (typeof operation !== 'string' || !isOperation(operation) || typeof request !== 'string')
      throw new Error('The operation is not known')
    const bytes = parts.filter((part) => part instanceof Uint8Array)
    const size = bytes.reduce((sum, part) => sum + part.length, 0)
    if (size > MAX_CRYPTO_BYTES)
      throw new CryptoFailure(
        'OperationError',
        `One operation of crypto.subtle may be given ${MAX_CRYPTO_BYTES} bytes: use it in pieces`,
      )
    const run: Operation = OPERATIONS[operation]
    const answer = run(new CryptoFields(request), bytes, this.#keys)
    return typeof answer === 'string' ? answer : ownBuffer(answer)
  }
}

function quickPbkdf2(fields: CryptoFields, parts: readonly Uint8Array[]): Uint8Array | string {
  return isQuickPbkdf2(fields) ? pbkdf2(fields, parts) : LATER
}

const isOperation = (name: string): name is CryptoOperation => Object.hasOwn(OPERATIONS, name)

/** Small buffers of Node's are parts of a larger one, which must not be copied into an isolate. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  const { buffer, byteLength } = bytes
  return buffer instanceof ArrayBuffer && byteLength === buffer.byteLength
    ? buffer
    : new Uint8Array(bytes).buffer
}
