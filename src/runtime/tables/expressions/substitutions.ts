import { Buffer } from 'node:buffer'

import { AppError } from '#base/app-error.ts'
import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import { checkAttributeName } from '#runtime/tables/items/limits.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import type { DocumentPath } from './document-path.ts'
import { ExpressionError } from './expression-error.ts'

export type AttributeNames = Readonly<Record<string, string>>
export type AttributeValues = Readonly<Record<string, AttributeValue>>

const NAMES = 'ExpressionAttributeNames'
const VALUES = 'ExpressionAttributeValues'
const NAME_KEY = /^#[0-9a-zA-Z_]+$/
const VALUE_KEY = /^:[0-9a-zA-Z_]+$/
const MAX_KEY_BYTES = 255
/** More than the expressions of a request, at most three of 4 KiB, can mention: others would be read to be called unused. */
const MAX_KEYS = 4096

/** The names and values of one request, and which of them its expressions have used. */
export class Substitutions {
  readonly #names: ReadonlyMap<string, string>
  readonly #values: ReadonlyMap<string, AttributeValue>
  readonly #unusedNames: Set<string>
  readonly #unusedValues: Set<string>

  constructor(names: AttributeNames | undefined, values: AttributeValues | undefined) {
    this.#names = new Map(Object.entries(names ?? {}))
    this.#values = new Map(Object.entries(values ?? {}))
    this.#unusedNames = new Set(this.#names.keys())
    this.#unusedValues = new Set(this.#values.keys())
  }

  path(written: DocumentPath): DocumentPath {
    return written.map((part) =>
      typeof part === 'string' && part.startsWith('#') ? this.#name(part) : part,
    )
  }

  value(name: string): AttributeValue {
    const value = this.#values.get(name)
    if (value === undefined) {
      throw new ExpressionError(
        `An expression attribute value used in expression is not defined; attribute value: ${name}`,
      )
    }
    this.#unusedValues.delete(name)
    return value
  }

  /** Refuses what no expression of the request mentioned. */
  checkAllUsed(): void {
    for (const [what, unused] of [
      [NAMES, this.#unusedNames],
      [VALUES, this.#unusedValues],
    ] as const) {
      if (unused.size > 0) {
        throw validationError(
          `Value provided in ${what} unused in expressions: keys: {${[...unused].join(', ')}}`,
        )
      }
    }
  }

  #name(placeholder: string): string {
    const name = this.#names.get(placeholder)
    if (name === undefined) {
      throw new ExpressionError(
        `An expression attribute name used in the document path is not defined; attribute name: ${placeholder}`,
      )
    }
    this.#unusedNames.delete(placeholder)
    return name
  }
}

/** Checks names and their placeholders. */
export function checkNames(names: AttributeNames | undefined): void {
  if (names === undefined) return
  checkKeys(NAMES, Object.keys(names), NAME_KEY)
  for (const [key, name] of Object.entries(names)) {
    if (name === '') {
      throw validationError(`${NAMES} contains invalid value: Empty attribute name for key ${key}`)
    }
    checkAttributeName(name)
  }
}

/** Reads the values behind placeholders, each by `read`. */
export function readValues(
  values: Readonly<Record<string, unknown>> | undefined,
  read: (input: unknown) => AttributeValue,
): AttributeValues | undefined {
  if (values === undefined) return undefined
  checkKeys(VALUES, Object.keys(values), VALUE_KEY)
  return Object.fromEntries(
    Object.entries(values).map(([key, input]) => [key, readValue(key, input, read)]),
  )
}

function checkKeys(what: string, keys: readonly string[], pattern: RegExp): void {
  if (keys.length === 0) throw validationError(`${what} must not be empty`)
  if (keys.length > MAX_KEYS)
    throw validationError(`${what} must not hold more than ${MAX_KEYS} keys`)
  for (const key of keys) {
    const bytes = Buffer.byteLength(key, 'utf8')
    if (bytes > MAX_KEY_BYTES) {
      const size = what === NAMES ? ` size of key: ${bytes}` : ''
      throw validationError(
        `${what} contains invalid key: The expression attribute map contains a key that is too long;${size}`,
      )
    }
    if (!pattern.test(key)) {
      throw validationError(`${what} contains invalid key: Syntax error; key: "${key}"`)
    }
  }
}

function readValue(
  key: string,
  input: unknown,
  read: (input: unknown) => AttributeValue,
): AttributeValue {
  try {
    return read(input)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw validationError(`${VALUES} contains invalid value: ${error.message} for key ${key}`)
  }
}
