import {
  hash,
  constants,
  createHmac,
  sign,
  verify,
  type KeyObject,
  type CipherGCM,
  createCipheriv,
  createDecipheriv,
  type DecipherGCM,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto'

import { CryptoFailure, orFail } from './crypto-failure.ts'
import { CryptoFields } from './crypto-fields.ts'
import { agree, hkdf, isQuickPbkdf2, pbkdf2 } from './derivations.ts'
import { jwkOf, readKey } from './key-forms.ts'
import { quickPair } from './key-pairs.ts'
import { MAX_CRYPTO_BYTES } from './limits.ts'
import { ParsedKeys } from './parsed-keys.ts'

const SCHEMES = ['ECDSA', 'Ed25519', 'Ed448', 'RSA-PSS', 'RSASSA-PKCS1-v1_5'] as const
const MAX_SALT_BYTES = 1024
const EMPTY = new Uint8Array(0)

const BLOCK = 16

/** The initial value of RFC 3394 §2.2.3.1. */
const WRAP_IV = Buffer.alloc(8, 0xa6)
const KEY_LENGTHS = [16, 24, 32]

interface Work {
  readonly encrypts: boolean
  readonly key: Uint8Array
  readonly iv: Uint8Array
  readonly data: Uint8Array
}

/** AES in each of its modes. The parts: key, initialisation vector or counter, data, additional data. */
function aes(fields: CryptoFields, parts: readonly Uint8Array[]): Buffer {
  const mode = fields.oneOf('mode', ['cbc', 'ctr', 'gcm', 'kw'])
  const [key = EMPTY, iv = EMPTY, data = EMPTY, added = EMPTY] = parts
  const work = { encrypts: fields.flag('encrypts'), key, iv, data }
  return orFail('OperationError', 'The operation failed for an operation-specific reason', () => {
    if (!KEY_LENGTHS.includes(key.length)) throw new Error('No AES key has that length')
    switch (mode) {
      case 'cbc':
        return run(`aes-${key.length * 8}-cbc`, work)
      case 'kw':
        return run(`id-aes${key.length * 8}-wrap`, { ...work, iv: WRAP_IV })
      case 'ctr':
        return counter(work, fields.integer('counterLength', 1, 128))
      case 'gcm':
        return gcm(work, added, fields.integer('tagLength', 32, 128) / 8)
    }
  })
}

/** The parts: key, label, data. */
function rsaOaep(
  fields: CryptoFields,
  [der = EMPTY, label = EMPTY, data = EMPTY]: readonly Uint8Array[],
  keys: ParsedKeys,
): Buffer {
  const encrypts = fields.flag('encrypts')
  const options = {
    padding: constants.RSA_PKCS1_OAEP_PADDING,
    oaepHash: fields.hash(),
    ...(label.length > 0 ? { oaepLabel: label } : {}),
  }
  return orFail('OperationError', 'The operation failed for an operation-specific reason', () =>
    encrypts
      ? publicEncrypt({ key: keys.publicKey(der), ...options }, data)
      : privateDecrypt({ key: keys.privateKey(der), ...options }, data),
  )
}

function run(name: string, { encrypts, key, iv, data }: Work): Buffer {
  const cipher = encrypts ? createCipheriv(name, key, iv) : createDecipheriv(name, key, iv)
  return joined(cipher.update(data), cipher.final())
}

function gcm({ encrypts, key, iv, data }: Work, added: Uint8Array, authTagLength: number): Buffer {
  const name = `aes-${key.length * 8}-gcm` as 'aes-256-gcm'
  if (encrypts) {
    const cipher: CipherGCM = createCipheriv(name, key, iv, { authTagLength })
    cipher.setAAD(added)
    return Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()])
  }
  const end = data.length - authTagLength
  if (end < 0) throw new CryptoFailure('OperationError', 'The provided data is too small')
  const decipher: DecipherGCM = createDecipheriv(name, key, iv, { authTagLength })
  decipher.setAAD(added)
  decipher.setAuthTag(data.subarray(end))
  return joined(decipher.update(data.subarray(0, end)), decipher.final())
}

/** Only the last bits of the block are the counter: when it overflows, the bits before it do not change. */
function counter(work: Work, length: number): Buffer {
  const name = `aes-${work.key.length * 8}-ctr`
  if (work.iv.length !== BLOCK) throw new CryptoFailure('OperationError', 'Invalid counter')
  const blocks = BigInt(Math.ceil(work.data.length / BLOCK))
  const all = 1n << BigInt(length)
  if (blocks > all) throw new CryptoFailure('OperationError', 'The counter would come round')
  const start = BigInt(`0x${Buffer.from(work.iv).toString('hex')}`)
  const left = all - (start & (all - 1n))
  if (blocks <= left) return run(name, work)
  const bytes = Number(left) * BLOCK
  const iv = Buffer.from((start & ~(all - 1n)).toString(16).padStart(2 * BLOCK, '0'), 'hex')
  return Buffer.concat([
    run(name, { ...work, data: work.data.subarray(0, bytes) }),
    run(name, { ...work, iv, data: work.data.subarray(bytes) }),
  ])
}

const joined = (most: Buffer, rest: Buffer): Buffer =>
  rest.length === 0 ? most : Buffer.concat([most, rest])

/** The parts: private key, data. */
function signBytes(
  fields: CryptoFields,
  [der = EMPTY, data = EMPTY]: readonly Uint8Array[],
  keys: ParsedKeys,
): Buffer {
  const [hash, options] = schemeOf(fields)
  return orFail('OperationError', 'The data could not be signed with that key', () =>
    sign(hash, data, { key: keys.privateKey(der), ...options }),
  )
}

/** The parts: public key, signature, data. */
function verifyBytes(
  fields: CryptoFields,
  [der = EMPTY, signature = EMPTY, data = EMPTY]: readonly Uint8Array[],
  keys: ParsedKeys,
): string {
  const [hash, options] = schemeOf(fields)
  const key = orFail('OperationError', 'The key cannot be used', () => keys.publicKey(der))
  return String(matches(hash, data, { key, ...options, signature }))
}

/** The parts: key, data. */
const hmacBytes = (
  fields: CryptoFields,
  [key = EMPTY, data = EMPTY]: readonly Uint8Array[],
): Buffer => createHmac(fields.hash(), key).update(data).digest()

function schemeOf(fields: CryptoFields) {
  switch (fields.oneOf('scheme', SCHEMES)) {
    case 'Ed25519':
    case 'Ed448':
      return [null, {}] as const
    case 'ECDSA':
      return [fields.hash(), { dsaEncoding: 'ieee-p1363' as const }] as const
    case 'RSASSA-PKCS1-v1_5':
      return [fields.hash(), { padding: constants.RSA_PKCS1_PADDING }] as const
    case 'RSA-PSS': {
      const saltLength = fields.integer('saltLength', 0, MAX_SALT_BYTES)
      return [fields.hash(), { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }] as const
    }
  }
}

interface Claim {
  readonly key: KeyObject
  readonly signature: Uint8Array
}

/** What is no signature at all is a wrong one. */
function matches(hash: string | null, data: Uint8Array, { signature, ...key }: Claim): boolean {
  try {
    return verify(hash, data, key, signature)
  } catch {
    return false
  }
}

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
