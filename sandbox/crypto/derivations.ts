import { diffieHellman, hkdfSync, pbkdf2Sync } from 'node:crypto'

import { CryptoFailure, orFail } from './crypto-failure.ts'
import type { CryptoFields } from './crypto-fields.ts'
import { MAX_DERIVATION_BYTES, MAX_PBKDF2_ROUNDS, QUICK_ROUNDS } from './limits.ts'
import type { ParsedKeys } from './parsed-keys.ts'

const HASH_BYTES: Readonly<Record<string, number>> = {
  sha1: 20,
  sha256: 32,
  sha384: 48,
  sha512: 64,
}
/** Rounds with the longer hashes take that much more. */
const LONG_HASH_COST = 4
/** What OpenSSL takes. */
const MAX_INFO_BYTES = 1024
const MAX_BLOCKS = 255
const EMPTY = new Uint8Array(0)

/** The parts: private key, public key of the other side. */
export function agree(
  _fields: CryptoFields,
  [secret = EMPTY, other = EMPTY]: readonly Uint8Array[],
  keys: ParsedKeys,
): Buffer {
  return orFail('OperationError', 'No secret can be agreed on with that key', () =>
    diffieHellman({ privateKey: keys.privateKey(secret), publicKey: keys.publicKey(other) }),
  )
}

/** The parts: key, salt, info. */
export function hkdf(
  fields: CryptoFields,
  [key = EMPTY, salt = EMPTY, info = EMPTY]: readonly Uint8Array[],
): Uint8Array {
  const hash = fields.hash()
  const length = fields.integer('length', 0, MAX_DERIVATION_BYTES)
  if (length > MAX_BLOCKS * (HASH_BYTES[hash] ?? 0))
    throw new CryptoFailure(
      'OperationError',
      'The length provided for HKDF is too large for this hash',
    )
  if (info.length > MAX_INFO_BYTES)
    throw new CryptoFailure('OperationError', `The info may be ${MAX_INFO_BYTES} bytes long`)
  return orFail('OperationError', 'The bits could not be derived', () =>
    length === 0 ? EMPTY : new Uint8Array(hkdfSync(hash, key, salt, info, length)),
  )
}

/** Whether these rounds take a few milliseconds. */
export function isQuickPbkdf2(fields: CryptoFields): boolean {
  const cost = fields.hash() === 'sha1' || fields.hash() === 'sha256' ? 1 : LONG_HASH_COST
  return roundsOf(fields) * cost <= QUICK_ROUNDS
}

/** The parts: password, salt. */
export function pbkdf2(
  fields: CryptoFields,
  [password = EMPTY, salt = EMPTY]: readonly Uint8Array[],
): Buffer {
  const iterations = fields.integer('iterations', 1, 2 ** 32 - 1)
  const length = fields.integer('length', 0, MAX_DERIVATION_BYTES)
  const rounds = roundsOf(fields)
  if (rounds > MAX_PBKDF2_ROUNDS)
    throw new CryptoFailure(
      'OperationError',
      `PBKDF2 may take ${MAX_PBKDF2_ROUNDS} iterations, times the blocks of the hash that are derived; this would take ${rounds}`,
    )
  if (password.length > MAX_DERIVATION_BYTES || salt.length > MAX_DERIVATION_BYTES)
    throw new CryptoFailure(
      'OperationError',
      `Password and salt may be ${MAX_DERIVATION_BYTES} bytes long each`,
    )
  return pbkdf2Sync(password, salt, iterations, length, fields.hash())
}

function roundsOf(fields: CryptoFields): number {
  const iterations = fields.integer('iterations', 1, 2 ** 32 - 1)
  const length = fields.integer('length', 0, MAX_DERIVATION_BYTES)
  return iterations * Math.ceil(length / (HASH_BYTES[fields.hash()] ?? 1))
}
