import { hmac } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js'

import { DOMException } from './dom-exception.ts'
import { isWebIdlObject } from './webidl.ts'

const HASHES = { 'SHA-1': sha1, 'SHA-256': sha256, 'SHA-384': sha384, 'SHA-512': sha512 } as const
export type HashName = keyof typeof HASHES

/** The name an algorithm identifier gives, as WebCrypto normalises it: any case, a string or `{ name }`. */
export function algorithmName(identifier: unknown): string {
  const name: unknown = isWebIdlObject(identifier) ? Reflect.get(identifier, 'name') : identifier
  if (name === undefined) throw new TypeError("Algorithm: 'name' is required.")
  return `${name as string}`.toUpperCase()
}

export function hashName(identifier: unknown): HashName {
  const name = algorithmName(identifier)
  if (!isHash(name))
    throw new DOMException(`Unrecognized algorithm name "${name}"`, 'NotSupportedError')
  return name
}

export const hashDigest = (name: HashName, bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  HASHES[name](bytes)

export const hmacOf = (
  name: HashName,
  key: Uint8Array,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> => hmac(HASHES[name], key, bytes)

/** In bytes: the length of a generated HMAC key. */
export const blockLength = (name: HashName): number => HASHES[name].blockLen

const isHash = (name: string): name is HashName => Object.hasOwn(HASHES, name)
