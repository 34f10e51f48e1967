import { decodeBase64, encodeBase64 } from './base64.ts'
import type { KeyMaterial, KeyUsage } from './crypto-key.ts'
import { type Bytes, dataError, has, notSupported, textsOf } from './crypto-values.ts'
import { create, hasOwn, map, split, testPattern, TypeErrorClass, join } from './primordials.ts'
import { isWebIdlObject } from './webidl.ts'

/** Members of a JSON Web Key that are text: RFC 7517 §4, RFC 7518 §6. */
const TEXTS = split('alg crv d dp dq e k kty n p q qi use x y', ' ')
const OPERATIONS_OF = {
  sig: ['sign', 'verify'],
  enc: ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'],
}

/** A JSON Web Key as WebIDL converts it. */
export interface Jwk {
  readonly texts: Readonly<Record<string, string>>
  readonly ext: boolean | undefined
  readonly operations: readonly string[] | undefined
  readonly hasOthers: boolean
}

/** What a JSON Web Key has to say, and what it is wanted for. */
export interface Wanted {
  readonly kty: string
  readonly use: 'enc' | 'sig'
  /** Undefined where any is allowed. */
  readonly alg: readonly string[] | undefined
  readonly extractable: boolean
  readonly usages: readonly KeyUsage[]
}

export function readJwk(value: unknown): Jwk {
  if (!isWebIdlObject(value)) throw new TypeErrorClass('The key data is not a JSON Web Key.')
  const given = value as Readonly<Record<string, unknown>>
  const texts = create(null) as Record<string, string>
  for (let at = 0; at < TEXTS.length; at += 1) {
    const name = TEXTS[at] as string
    const text = given[name]
    if (text !== undefined) texts[name] = `${text as string}`
  }
  const ext = given['ext']
  return {
    texts,
    ext: ext === undefined ? undefined : !!ext,
    operations: readOperations(given['key_ops']),
    hasOthers: given['oth'] !== undefined,
  }
}

/** Throws unless the key allows what is wanted of it. */
export function checkJwk(jwk: Jwk, wanted: Wanted): void {
  const { texts, operations, hasOthers } = jwk
  const { kty, use, usages } = wanted
  if (texts['kty'] !== kty) throw refused(`its "kty" must be "${kty}"`)
  if (usages.length > 0 && texts['use'] !== undefined && texts['use'] !== use)
    throw refused(`its "use" must be "${use}"`)
  if (operations) checkOperations(operations, texts['use'], usages)
  checkMarks(jwk, wanted)
  if (hasOthers) throw notSupported('RSA keys with more than two primes are not supported')
}

export function bytesOfJwk(jwk: Jwk, member: string): Bytes {
  const text = jwk.texts[member]
  const bytes =
    text !== undefined && testPattern(/^[\w-]*={0,2}$/, text) ? decodeBase64Url(text) : undefined
  if (!bytes) throw refused(`its "${member}" must be base64url`)
  return bytes
}

/** A new JSON Web Key of that key. */
export function writtenJwk(
  { usages, extractable }: KeyMaterial,
  members: Readonly<Record<string, unknown>>,
  alg: string | undefined,
): object {
  const jwk: Record<string, unknown> = { key_ops: map(usages, (usage) => usage), ext: extractable }
  if (alg !== undefined) jwk['alg'] = alg
  for (let at = 0; at < TEXTS.length; at += 1) {
    const name = TEXTS[at] as string
    if (hasOwn(members, name)) jwk[name] = members[name]
  }
  return jwk
}

export function encodeBase64Url(bytes: Bytes): string {
  const text = encodeBase64(bytes)
  return join(split(join(split(join(split(text, '+'), '-'), '/'), '_'), '='), '')
}

function decodeBase64Url(text: string): Bytes | undefined {
  return decodeBase64(join(split(join(split(text, '-'), '+'), '_'), '/'))
}

function readOperations(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined
  if (!isWebIdlObject(value)) throw new TypeErrorClass("JsonWebKey: 'key_ops' is not a sequence.")
  return textsOf(value)
}

function checkMarks({ texts, ext }: Jwk, { alg, extractable }: Wanted): void {
  if (ext === false && extractable) throw refused('it is not extractable')
  if (alg && texts['alg'] !== undefined && !has(alg, texts['alg']))
    throw refused(`its "alg" must be "${join(alg, '" or "')}"`)
}

function checkOperations(
  operations: readonly string[],
  use: string | undefined,
  usages: readonly KeyUsage[],
): void {
  for (let at = 0; at < operations.length; at += 1)
    for (let other = 0; other < at; other += 1)
      if (operations[at] === operations[other]) throw refused('its "key_ops" repeat one')
  if ((use === 'sig' || use === 'enc') && !isWithin(operations, OPERATIONS_OF[use]))
    throw refused('its "key_ops" do not fit its "use"')
  if (!isWithin(usages, operations)) throw refused('its "key_ops" do not allow the usages')
}

function isWithin(items: readonly string[], list: readonly string[]): boolean {
  for (let at = 0; at < items.length; at += 1) if (!has(list, items[at] as string)) return false
  return true
}

const refused = (why: string) => dataError(`The JSON Web Key cannot be imported: ${why}.`)
