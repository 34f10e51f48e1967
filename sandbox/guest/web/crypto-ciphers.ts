import type { Algorithm } from './crypto-algorithms.ts'
import { hostBytes } from './crypto-host.ts'
import type { KeyMaterial } from './crypto-key.ts'
import { type Bytes, has, invalidAccess, operationFailed } from './crypto-values.ts'
import { Uint8ArrayClass } from './primordials.ts'

const BLOCK = 16
/** In bits: NIST SP 800-38D §5.2.1.2. */
const TAG_LENGTHS = [32, 64, 96, 104, 112, 120, 128]
export const encryptBytes = (algorithm: Algorithm, key: KeyMaterial, data: Bytes): Bytes =>
  apply(algorithm, { key, data, encrypts: true })

export const decryptBytes = (algorithm: Algorithm, key: KeyMaterial, data: Bytes): Bytes =>
  apply(algorithm, { key, data, encrypts: false })

interface Work {
  readonly key: KeyMaterial
  readonly data: Bytes
  readonly encrypts: boolean
}

function apply(algorithm: Algorithm, work: Work): Bytes {
  switch (algorithm.name) {
    case 'RSA-OAEP':
      return rsaOaep(algorithm, work)
    case 'AES-CBC':
      return cbc(algorithm, work)
    case 'AES-CTR':
      return ctr(algorithm, work)
    case 'AES-GCM':
      return gcm(algorithm, work)
    default:
      return aes({ __proto__: null, encrypts: work.encrypts, mode: 'kw' }, work, none())
  }
}

function rsaOaep({ label = none() }: Algorithm, { key, data, encrypts }: Work): Bytes {
  if (key.type !== (encrypts ? 'public' : 'private'))
    throw invalidAccess(`A ${key.type} key cannot be used for that.`)
  const fields = { __proto__: null, encrypts, hash: key.algorithm.hash }
  return hostBytes('rsaOaep', fields, [key.bytes, label, data])
}

function cbc({ iv }: Algorithm, work: Work): Bytes {
  if (iv?.length !== BLOCK)
    throw operationFailed('The initialization vector must be 16 bytes long.')
  return aes({ __proto__: null, encrypts: work.encrypts, mode: 'cbc' }, work, iv)
}

function ctr({ counter, length = 0 }: Algorithm, work: Work): Bytes {
  if (counter?.length !== BLOCK || length < 1 || length > 128)
    throw operationFailed('The counter must be 16 bytes long, with 1 to 128 bits that count.')
  const fields = { __proto__: null, encrypts: work.encrypts, mode: 'ctr', counterLength: length }
  return aes(fields, work, counter)
}

function gcm({ iv, additionalData, tagLength = 128 }: Algorithm, work: Work): Bytes {
  if (!has(TAG_LENGTHS, tagLength))
    throw operationFailed('The tag length must be 32, 64, 96, 104, 112, 120 or 128 bits.')
  const fields = { __proto__: null, encrypts: work.encrypts, mode: 'gcm', tagLength }
  const { key, data } = work
  return hostBytes('aes', fields, [key.bytes, iv ?? none(), data, additionalData ?? none()])
}

const aes = (fields: object, { key, data }: Work, start: Bytes): Bytes =>
  hostBytes('aes', fields, [key.bytes, start, data])

const none = (): Bytes => new Uint8ArrayClass(0)
