import { encodeBase64 } from './base64.ts'
import { type Algorithm, normalized, wrapAlgorithm } from './crypto-algorithms.ts'
import { hostBytes, hostText, bytesOfBase64, longText, quickBytes } from './crypto-host.ts'
import { readJwk } from './crypto-jwk.ts'
import {
  type CryptoKey,
  createKey,
  type KeyMaterial,
  type KeyUsage,
  materialOf,
} from './crypto-key.ts'
import { exportPair, generatePair, importPair } from './crypto-pair-keys.ts'
import {
  derivedLength,
  exportSecret,
  generateSecret,
  importSecret,
  isSecret,
  type KeySource,
  mac,
} from './crypto-secret-keys.ts'
import {
  type Bytes,
  copiedBytes,
  dataError,
  has,
  invalidAccess,
  isBufferSource,
  type KeyFormat,
  keyFormat,
  keyUsages,
  notSupported,
  operationFailed,
} from './crypto-values.ts'
import {
  isView,
  jsonParse,
  jsonStringify,
  TypeErrorClass,
  Uint8ArrayClass,
  setBytes,
  ceil,
  subarray,
} from './primordials.ts'
import { decodeUtf8, encodeUtf8 } from './utf8.ts'

const BLOCK = 16

/** In bits: NIST SP 800-38D §5.2.1.2. */
const TAG_LENGTHS = [32, 64, 96, 104, 112, 120, 128]

interface Work {
  readonly key: KeyMaterial
  readonly data: Bytes
  readonly encrypts: boolean
}

interface Claim {
  readonly claimed: Bytes
  readonly data: Bytes
}

async function digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
  requireBytes(data, 'The data')
  const { name } = normalized(algorithm, 'digest')
  return hostBytes('digest', { __proto__: null, hash: name }, [copiedBytes(data, 'The data')])
    .buffer
}

async function encrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
  const material = requireKey(key)
  requireBytes(data, 'The data')
  const wanted = normalized(algorithm, 'cipher')
  requireUse(material, wanted, 'encrypt')
  return ownBuffer(encryptBytes(wanted, material, copiedBytes(data, 'The data')))
}

async function decrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
  const material = requireKey(key)
  requireBytes(data, 'The data')
  const wanted = normalized(algorithm, 'cipher')
  requireUse(material, wanted, 'decrypt')
  return ownBuffer(decryptBytes(wanted, material, copiedBytes(data, 'The data')))
}

async function sign(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
  const material = requireKey(key)
  requireBytes(data, 'The data')
  const wanted = normalized(algorithm, 'sign')
  requireUse(material, wanted, 'sign')
  return ownBuffer(signature(wanted, material, copiedBytes(data, 'The data')))
}

async function verify(
  algorithm: unknown,
  key: unknown,
  claimed: unknown,
  data: unknown,
): Promise<boolean> {
  const material = requireKey(key)
  requireBytes(claimed, 'The signature')
  requireBytes(data, 'The data')
  const wanted = normalized(algorithm, 'sign')
  requireUse(material, wanted, 'verify')
  const given = copiedBytes(claimed, 'The signature')
  return verified(wanted, material, { claimed: given, data: copiedBytes(data, 'The data') })
}

async function generateKey(
  algorithm: unknown,
  extractable: unknown,
  usages: unknown,
): Promise<object> {
  const wanted = keyUsages(usages)
  const wish = {
    algorithm: normalized(algorithm, 'generateKey'),
    extractable: isTrue(extractable),
    usages: wanted,
  }
  if (isSecret(wish.algorithm)) return createKey(generateSecret(wish))
  const { publicKey, privateKey } = await generatePair(wish)
  return { privateKey: createKey(privateKey), publicKey: createKey(publicKey) }
}

interface Import {
  readonly format: KeyFormat
  readonly data: unknown
  readonly algorithm: unknown
  readonly extractable: unknown
  readonly usages: readonly KeyUsage[]
}

async function importKey(...given: readonly unknown[]): Promise<CryptoKey> {
  const format = keyFormat(given[0])
  const data = given[1]
  if ((format === 'jwk') === isBufferSource(data))
    throw new TypeErrorClass(`The key data does not fit the format "${format}".`)
  const usages = keyUsages(given[4])
  return imported({ format, data, algorithm: given[2], extractable: given[3], usages })
}

async function exportKey(format: unknown, key: unknown): Promise<ArrayBuffer | object> {
  const wanted = keyFormat(format)
  const content = exported(requireKey(key), wanted)
  return isBytes(content) ? ownBuffer(copiedBytes(content, '')) : content
}

async function deriveBits(algorithm: unknown, key: unknown, length: unknown): Promise<ArrayBuffer> {
  const material = requireKey(key)
  const bits = length === undefined || length === null ? null : (length as number) >>> 0
  const wanted = normalized(algorithm, 'deriveBits')
  requireUse(material, wanted, 'deriveBits')
  return ownBuffer(await derivedBits(wanted, material, bits))
}

async function deriveKey(...given: readonly unknown[]): Promise<CryptoKey> {
  const material = requireKey(given[1])
  const usages = keyUsages(given[4])
  const wanted = normalized(given[0], 'deriveBits')
  const algorithm = normalized(given[2], 'importKey')
  const measured = normalized(given[2], 'keyLength')
  requireUse(material, wanted, 'deriveKey')
  const bytes = await derivedBits(wanted, material, derivedLength(measured))
  const extractable = isTrue(given[3])
  return createKey(importSecret({ algorithm, extractable, usages }, { format: 'raw', bytes }))
}

async function wrapKey(
  format: unknown,
  key: unknown,
  wrappingKey: unknown,
  algorithm: unknown,
): Promise<ArrayBuffer> {
  const wanted = keyFormat(format)
  const material = requireKey(key)
  const wrapping = requireKey(wrappingKey)
  const how = wrapAlgorithm(algorithm)
  requireUse(wrapping, how, 'wrapKey')
  const content = exported(material, wanted)
  const bytes = isBytes(content) ? content : encodeUtf8(jsonOf(content))
  return ownBuffer(encryptBytes(how, wrapping, bytes))
}

async function unwrapKey(...given: readonly unknown[]): Promise<CryptoKey> {
  const format = keyFormat(given[0])
  requireBytes(given[1], 'The wrapped key')
  const unwrapping = requireKey(given[2])
  const usages = keyUsages(given[6])
  const how = wrapAlgorithm(given[3])
  normalized(given[4], 'importKey')
  requireUse(unwrapping, how, 'unwrapKey')
  const bytes = decryptBytes(how, unwrapping, copiedBytes(given[1], 'The wrapped key'))
  const data = format === 'jwk' ? parsedJwk(bytes) : bytes
  return imported({ format, data, algorithm: given[4], extractable: given[5], usages })
}

function imported({ format, data, algorithm: asked, extractable, usages }: Import): CryptoKey {
  const algorithm = normalized(asked, 'importKey')
  const source: KeySource =
    format === 'jwk'
      ? { format, jwk: readJwk(data) }
      : { format, bytes: copiedBytes(data, 'The key data') }
  const wish = { algorithm, extractable: isTrue(extractable), usages }
  const material = isSecret(algorithm) ? importSecret(wish, source) : importPair(wish, source)
  return createKey(material)
}

function exported(material: KeyMaterial, format: KeyFormat): Bytes | object {
  const { name } = material.algorithm
  if (name === 'HKDF' || name === 'PBKDF2') throw notSupported(`A ${name} key cannot be exported.`)
  if (!material.extractable) throw invalidAccess('The key is not extractable.')
  return isSecret(material.algorithm)
    ? exportSecret(material, format)
    : exportPair(material, format)
}

function parsedJwk(bytes: Bytes): unknown {
  try {
    return jsonParse(decodeUtf8(bytes))
  } catch {
    throw dataError('What was unwrapped is not a JSON Web Key.')
  }
}

const jsonOf = (jwk: object): string => jsonStringify(jwk) ?? ''

const isBytes = (content: Bytes | object): content is Bytes => isView(content)

const isTrue = (value: unknown): boolean => !!value

function requireKey(value: unknown): KeyMaterial {
  const material = materialOf(value)
  if (!material) throw new TypeErrorClass("The key is not of type 'CryptoKey'.")
  return material
}

function requireBytes(value: unknown, what: string): void {
  if (!isBufferSource(value))
    throw new TypeErrorClass(`${what} must be an ArrayBuffer or a view on one.`)
}

function requireUse({ algorithm, usages }: KeyMaterial, wanted: Algorithm, usage: KeyUsage): void {
  if (algorithm.name !== wanted.name)
    throw invalidAccess(`The key is for ${algorithm.name}, not for ${wanted.name}.`)
  if (!has(usages, usage)) throw invalidAccess(`The key may not be used for ${usage}.`)
}

/** The buffer is the site's own: nothing else shows it. */
function ownBuffer(bytes: Bytes): ArrayBuffer {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes.buffer
  const copy = new Uint8ArrayClass(bytes.length)
  setBytes(copy, bytes)
  return copy.buffer
}

/**
 * https://w3c.github.io/webcrypto/#subtlecrypto-interface-methods, each with its arguments as they come. The checks are made
 * here, the work is the host's. Bytes of a key are in the isolate, where only this reads them.
 */
export const subtleMethods = {
  encrypt,
  decrypt,
  sign,
  verify,
  digest,
  generateKey,
  deriveKey,
  deriveBits,
  importKey,
  exportKey,
  wrapKey,
  unwrapKey,
}

const encryptBytes = (algorithm: Algorithm, key: KeyMaterial, data: Bytes): Bytes =>
  apply(algorithm, { key, data, encrypts: true })

const decryptBytes = (algorithm: Algorithm, key: KeyMaterial, data: Bytes): Bytes =>
  apply(algorithm, { key, data, encrypts: false })

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

function signature(algorithm: Algorithm, key: KeyMaterial, data: Bytes): Bytes {
  if (algorithm.name === 'HMAC') return mac(key, data)
  if (key.type !== 'private') throw invalidAccess('Only a private key can sign.')
  return hostBytes('sign', schemeOf(algorithm, key), [key.bytes, data])
}

function verified(algorithm: Algorithm, key: KeyMaterial, { claimed, data }: Claim): boolean {
  if (algorithm.name === 'HMAC') return isSame(mac(key, data), claimed)
  if (key.type !== 'public') throw invalidAccess('Only a public key can verify.')
  return hostText('verify', schemeOf(algorithm, key), [key.bytes, claimed, data]) === 'true'
}

function schemeOf(
  { name, hash, saltLength, context }: Algorithm,
  { algorithm }: KeyMaterial,
): object {
  if (context && context.length > 0)
    throw notSupported('A context is not supported for Ed448 here.')
  return { __proto__: null, scheme: name, hash: hash ?? algorithm.hash, saltLength }
}

/** In constant time for those of the same length. */
function isSame(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let index = 0; index < left.length; index++)
    difference |= (left[index] ?? 0) ^ (right[index] ?? 0)
  return difference === 0
}

/** `length` is in bits; null is all that there is. */
async function derivedBits(
  algorithm: Algorithm,
  key: KeyMaterial,
  length: number | null,
): Promise<Bytes> {
  if (algorithm.public) return agreedBits(algorithm.public, key, length)
  if (length === null || length % 8 !== 0)
    throw operationFailed('The length must be a multiple of 8 bits.')
  const { name, hash, info = none(), iterations, salt = none() } = algorithm
  const fields = { __proto__: null, hash, iterations, length: length / 8 }
  if (name === 'HKDF') return hostBytes('hkdf', fields, [key.bytes, salt, info])
  if (iterations === 0) throw operationFailed('The iterations must not be 0.')
  if (length === 0) return none()
  const quick = quickBytes('pbkdf2', fields, [key.bytes, salt])
  if (quick) return quick
  const password = encodeBase64(key.bytes)
  const asked = { __proto__: null, operation: 'pbkdf2', password, salt: encodeBase64(salt) }
  return bytesOfBase64(await longText({ ...fields, ...asked, __proto__: null }))
}

function agreedBits(other: KeyMaterial, key: KeyMaterial, length: number | null): Bytes {
  if (key.type !== 'private') throw invalidAccess('The base key must be a private key.')
  if (other.type !== 'public') throw invalidAccess("The algorithm's key must be a public key.")
  if (
    other.algorithm.name !== key.algorithm.name ||
    other.algorithm.namedCurve !== key.algorithm.namedCurve
  )
    throw invalidAccess('The keys are not of the same algorithm and curve.')
  const secret = hostBytes('agree', { __proto__: null }, [key.bytes, other.bytes])
  if (length === null) return secret
  if (length > secret.length * 8)
    throw operationFailed('Invalid length: that many bits cannot be derived.')
  const bits = copiedBytes(subarray(secret, 0, ceil(length / 8)), '')
  const left = length % 8
  if (left > 0) bits[bits.length - 1] = (bits[bits.length - 1] ?? 0) & (0xff << (8 - left))
  return bits
}
