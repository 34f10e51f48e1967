import {
  type CipherGCM,
  constants,
  createCipheriv,
  createDecipheriv,
  type DecipherGCM,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto'

import { CryptoFailure, orFail } from './crypto-failure.ts'
import type { CryptoFields } from './crypto-fields.ts'
import type { ParsedKeys } from './parsed-keys.ts'

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
export function aes(fields: CryptoFields, parts: readonly Uint8Array[]): Buffer {
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
export function rsaOaep(
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

/** Only the last bits of the block are the counter: where it comes round, what stands before it stays as it is. */
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

const EMPTY = new Uint8Array(0)
