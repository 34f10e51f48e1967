import type { CryptoOperation } from '#sandbox/crypto/quick-crypto.ts'

import { decodeBase64 } from './base64.ts'
import { type Bytes, failure, operationFailed } from './crypto-values.ts'
import { host } from './host.ts'
import {
  charCodeAt,
  indexOf,
  jsonParse,
  jsonStringify,
  slice,
  Uint8ArrayClass,
} from './primordials.ts'

const FAILED = 0x21

/**
 * Has the host work on bytes. Its refusals are DOMExceptions. The fields have no prototype, so that no `toJSON` of site code
 * applies to them.
 */
export function hostBytes(
  operation: CryptoOperation,
  fields: object,
  parts: readonly Bytes[],
): Bytes {
  const answer = asked(operation, fields, parts)
  if (typeof answer !== 'string') return new Uint8ArrayClass(answer)
  throw operationFailed('The host did not answer with bytes.')
}

export function hostText(
  operation: CryptoOperation,
  fields: object,
  parts: readonly Bytes[],
): string {
  const answer = asked(operation, fields, parts)
  if (typeof answer === 'string') return answer
  throw operationFailed('The host did not answer with text.')
}

/** Undefined when it takes too long to be waited for. */
export function quickBytes(
  operation: CryptoOperation,
  fields: object,
  parts: readonly Bytes[],
): Bytes | undefined {
  const answer = asked(operation, fields, parts)
  return typeof answer === 'string' ? undefined : new Uint8ArrayClass(answer)
}

/** What the host does beside the isolate. */
export async function longText(fields: object): Promise<string> {
  let answer: string
  try {
    answer = await host.call('crypto', jsonStringify(fields) ?? '')
  } catch (error) {
    throw operationFailed(`${(error as Error).message}`)
  }
  return checked(answer)
}

export const hostJson = (text: string): Readonly<Record<string, unknown>> =>
  jsonParse(text) as Readonly<Record<string, unknown>>

export const bytesOfBase64 = (text: unknown): Bytes =>
  decodeBase64(`${text as string}`) ?? new Uint8ArrayClass(0)

function asked(
  operation: CryptoOperation,
  fields: object,
  parts: readonly Bytes[],
): ArrayBuffer | string {
  const request = jsonStringify(fields) ?? ''
  const answer = host.crypto(operation, request, parts)
  return typeof answer === 'string' ? checked(answer) : answer
}

function checked(answer: string): string {
  if (charCodeAt(answer, 0) !== FAILED) return answer
  const colon = indexOf(answer, ':')
  throw failure(slice(answer, 1, colon), slice(answer, colon + 1))
}
