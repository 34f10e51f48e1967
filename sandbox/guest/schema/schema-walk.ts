import {
  charCodeAt,
  indexOf,
  push,
  slice,
  split,
  join,
  toWellFormed,
} from '#sandbox/guest/web/primordials.ts'
import {
  MAX_FAULT_MESSAGE_LENGTH,
  MAX_POINTER_LENGTH,
  MAX_SCHEMA_FAULTS,
  type SchemaFault,
} from '#sandbox/protocol/compiled-schema.ts'

import { canonicalText } from './json-equality.ts'

/** Schemas inside of each other that one value may be checked against. */
const MAX_NESTED = 1000

/** Where a value is: the list of its keys, the last one first. */
export interface Place {
  readonly key: string | number
  readonly parent: Place | undefined
}

/** One check of one value: what it has found. */
export class SchemaWalk {
  readonly faults: SchemaFault[] = []
  readonly #root: string
  /** Within a schema that may fail: nothing is reported. */
  #silent = 0
  #nested = 0
  /** Then the value is refused, whatever a `not` makes of it. */
  tooDeep = false

  /** `root` is the pointer of the value itself. */
  constructor(root: string) {
    this.#root = root
  }

  /** Whether nothing that follows can add to the outcome. */
  get isOver(): boolean {
    return this.tooDeep || this.faults.length >= MAX_SCHEMA_FAULTS
  }

  /** Whether the first fault decides. */
  get isSilent(): boolean {
    return this.#silent > 0
  }

  enter(place: Place | undefined): boolean {
    this.#nested += 1
    if (this.#nested <= MAX_NESTED) return true
    if (!this.tooDeep) push(this.faults, [this.#pointer(place), 'is nested deeper than is checked'])
    this.tooDeep = true
    return false
  }

  leave(): void {
    this.#nested -= 1
  }

  /** What `check` finds is its result alone. */
  silently(check: () => boolean): boolean {
    this.#silent += 1
    const isValid = check()
    this.#silent -= 1
    return isValid
  }

  /** Always false. */
  fail(place: Place | undefined, message: string): false {
    if (this.#silent === 0 && !this.isOver) {
      const text = cut(message, MAX_FAULT_MESSAGE_LENGTH)
      push(this.faults, [this.#pointer(place), text])
    }
    return false
  }

  #pointer(place: Place | undefined): string {
    let text = ''
    for (let at = place; at; at = at.parent) {
      text = `/${escaped(at.key)}${text}`
      // The beginning of a long one says more, and is still to come.
      if (text.length > 2 * MAX_POINTER_LENGTH) text = slice(text, 0, MAX_POINTER_LENGTH)
    }
    return cut(this.#root + text, MAX_POINTER_LENGTH)
  }
}

/** RFC 6901, section 3. */
function escaped(key: string | number): string {
  if (typeof key === 'number') return `${key}`
  const short = cut(key, MAX_POINTER_LENGTH)
  if (indexOf(short, '~') < 0 && indexOf(short, '/') < 0) return short
  return join(split(join(split(short, '~'), '~0'), '/'), '~1')
}

function cut(text: string, length: number): string {
  return toWellFormed(text.length > length ? `${slice(text, 0, length - 1)}…` : text)
}

/** A value of a schema as a message shows it. */
export const shown = (value: unknown): string => cut(canonicalText(value), 80)

/** How many code points a text has, as JSON Schema counts its length. */
export function lengthOf(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length - 1; at += 1) {
    if (!isHigh(charCodeAt(text, at)) || !isLow(charCodeAt(text, at + 1))) continue
    length -= 1
    at += 1
  }
  return length
}

const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00
const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000
