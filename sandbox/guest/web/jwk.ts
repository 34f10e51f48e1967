import { decodeBase64, encodeBase64 } from './base64.ts'
import type { KeyMaterial } from './crypto-key.ts'
import { DOMException } from './dom-exception.ts'
import type { HashName } from './hashes.ts'
import { isWebIdlObject } from './webidl.ts'

type Jwk = Readonly<Record<string, unknown>>

const ALGORITHMS: Readonly<Record<HashName, string>> = {
  'SHA-1': 'HS1',
  'SHA-256': 'HS256',
  'SHA-384': 'HS384',
  'SHA-512': 'HS512',
}

/** The bytes of a symmetric JSON Web Key, RFC 7517 and 7518, when it allows what is asked of it. */
export function importJwk(
  data: unknown,
  hash: HashName,
  wanted: { readonly extractable: boolean; readonly usages: readonly string[] },
): Uint8Array<ArrayBuffer> {
  if (!isWebIdlObject(data)) throw new TypeError('The key data must be a JSON Web Key.')
  const jwk = data as Jwk
  checkPurpose(jwk, hash)
  if (jwk['ext'] === false && wanted.extractable) throw refused('it is not extractable')
  if (jwk['key_ops'] !== undefined && !allows(jwk['key_ops'], wanted.usages))
    throw refused('its "key_ops" do not allow the usages')
  const bytes = typeof jwk['k'] === 'string' ? decodeBase64Url(jwk['k']) : undefined
  if (bytes === undefined) throw refused('its "k" must be base64url')
  return bytes
}

function checkPurpose(jwk: Jwk, hash: HashName): void {
  if (jwk['kty'] !== 'oct') throw refused('its "kty" must be "oct"')
  if (jwk['alg'] !== undefined && jwk['alg'] !== ALGORITHMS[hash])
    throw refused(`its "alg" must be "${ALGORITHMS[hash]}"`)
  if (jwk['use'] !== undefined && jwk['use'] !== 'sig') throw refused('its "use" must be "sig"')
}

export function exportJwk({ algorithm, bytes, extractable, usages }: KeyMaterial): object {
  const alg = Object.entries(ALGORITHMS).find(([name]) => name === algorithm.hash.name)?.[1]
  const k = encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  return { key_ops: [...usages], ext: extractable, kty: 'oct', k, alg }
}

function allows(operations: unknown, usages: readonly string[]): boolean {
  return Array.isArray(operations) && usages.every((usage) => operations.includes(usage))
}

function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  return /^[\w-]*$/.test(text)
    ? decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
    : undefined
}

const refused = (why: string): DOMException =>
  new DOMException(`The JSON Web Key cannot be imported: ${why}.`, 'DataError')
