import { defineInterface, defineIterable, takeInternals } from './interface.ts'
import {
  charCodeAt,
  isArray,
  testPattern,
  objectKeys,
  reflectGet,
  slice,
  toLowerCase,
} from './primordials.ts'
import { byteString, isWebIdlObject, requireArguments } from './webidl.ts'

type Guard = 'none' | 'immutable'
type Pair = readonly [string, string]

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const FORBIDDEN_IN_VALUE = /[\0\r\n]/

/** https://fetch.spec.whatwg.org/#headers-class; a server's view: no header name is forbidden. */
export class Headers {
  /** Lower-case names with normalised values, in order of arrival. */
  #pairs: Pair[] = []
  #guard: Guard = 'none'

  constructor(init?: unknown) {
    if (init === undefined) return
    if (!isWebIdlObject(init))
      throw new TypeError("Failed to construct 'Headers': the value is not an object or sequence.")
    if (#pairs in init) this.#copy(init.#pairs)
    else if (typeof reflectGet(init, Symbol.iterator) === 'function')
      this.#appendPairs(init as Iterable<unknown>)
    else this.#appendRecord(init as Record<string, unknown>)
  }

  append(name: string, value: string): void {
    requireArguments(arguments.length, 2, "Failed to execute 'append' on 'Headers'")
    this.#add(headerName(name), headerValue(value))
  }

  delete(name: string): void {
    requireArguments(arguments.length, 1, "Failed to execute 'delete' on 'Headers'")
    const wanted = headerName(name)
    this.#requireMutable()
    this.#drop(wanted)
  }

  get(name: string): string | null {
    requireArguments(arguments.length, 1, "Failed to execute 'get' on 'Headers'")
    return this.#combined(headerName(name))
  }

  has(name: string): boolean {
    requireArguments(arguments.length, 1, "Failed to execute 'has' on 'Headers'")
    return this.#combined(headerName(name)) !== null
  }

  set(name: string, value: string): void {
    requireArguments(arguments.length, 2, "Failed to execute 'set' on 'Headers'")
    const wanted = headerName(name)
    const text = headerValue(value)
    this.#requireMutable()
    this.#replace(wanted, text)
  }

  getSetCookie(): string[] {
    const cookies: string[] = []
    for (let index = 0; index < this.#pairs.length; index++) {
      const pair = this.#pairs[index]
      if (pair?.[0] === 'set-cookie') cookies[cookies.length] = pair[1]
    }
    return cookies
  }

  static readonly pairsOf = (headers: Headers): readonly Pair[] => {
    return headers.#pairs
  }

  static readonly sortedPairs = (headers: Headers): readonly Pair[] => {
    return headers.#sorted()
  }

  /** `get`, and `set` unless it is there, for the platform itself: a lower-case name and a valid value are taken for granted. */
  static readonly headerOf = (headers: Headers, name: string): string | null => {
    return headers.#combined(name)
  }

  static readonly implyHeader = (headers: Headers, name: string, value: string | null): void => {
    if (value !== null && headers.#combined(name) === null) headers.#replace(name, value)
  }

  /** Headers as they came over the wire, which site code may read only. */
  static readonly received = (pairs: readonly Pair[]): Headers => {
    const headers = new Headers()
    for (let index = 0; index < pairs.length; index++) {
      const pair = pairs[index]
      if (pair !== undefined) headers.#add(toLowerCase(pair[0]), pair[1])
    }
    headers.#guard = 'immutable'
    return headers
  }

  static readonly seal = (headers: Headers): Headers => {
    headers.#guard = 'immutable'
    return headers
  }

  #copy(pairs: readonly Pair[]): void {
    for (let index = 0; index < pairs.length; index++) {
      const pair = pairs[index]
      if (pair !== undefined) this.#pairs[index] = pair
    }
  }

  #appendPairs(init: Iterable<unknown>): void {
    for (const entry of init) {
      if (!isWebIdlObject(entry)) throw new TypeError('A header pair must be a sequence.')
      const pair = isArray(entry) ? entry : [...(entry as Iterable<unknown>)]
      if (pair.length !== 2) throw new TypeError('A header pair must have exactly two items.')
      this.#add(headerName(pair[0]), headerValue(pair[1]))
    }
  }

  #appendRecord(init: Record<string, unknown>): void {
    const names = objectKeys(init)
    for (let index = 0; index < names.length; index++) {
      const name = names[index] ?? ''
      this.#add(headerName(name), headerValue(init[name]))
    }
  }

  #add(name: string, value: string): void {
    this.#requireMutable()
    this.#pairs[this.#pairs.length] = [name, value]
  }

  #drop(name: string): void {
    const kept: Pair[] = []
    for (let index = 0; index < this.#pairs.length; index++) {
      const pair = this.#pairs[index]
      if (pair !== undefined && pair[0] !== name) kept[kept.length] = pair
    }
    this.#pairs = kept
  }

  #replace(name: string, value: string): void {
    const kept: Pair[] = []
    let placed = false
    for (let index = 0; index < this.#pairs.length; index++) {
      const pair = this.#pairs[index]
      if (pair === undefined || (pair[0] === name && placed)) continue
      placed ||= pair[0] === name
      kept[kept.length] = pair[0] === name ? [name, value] : pair
    }
    if (!placed) kept[kept.length] = [name, value]
    this.#pairs = kept
  }

  #combined(name: string): string | null {
    let combined: string | null = null
    for (let index = 0; index < this.#pairs.length; index++) {
      const pair = this.#pairs[index]
      if (pair?.[0] === name) combined = combined === null ? pair[1] : `${combined}, ${pair[1]}`
    }
    return combined
  }

  /** "Sort and combine": cookies stay apart. */
  #sorted(): Pair[] {
    const names = [...new Set(this.#pairs.map((pair) => pair[0]))].toSorted()
    return names.flatMap((name): Pair[] =>
      name === 'set-cookie'
        ? this.getSetCookie().map((value) => [name, value])
        : [[name, this.#combined(name) ?? '']],
    )
  }

  #requireMutable(): void {
    if (this.#guard === 'immutable') throw new TypeError('These headers are immutable.')
  }
}

export const { pairsOf, sortedPairs, received, seal, headerOf, implyHeader } =
  takeInternals(Headers)
defineIterable(Headers, sortedPairs)
defineInterface('Headers', Headers)

function headerName(name: unknown): string {
  const text = byteString(name)
  if (!testPattern(TOKEN, text)) throw new TypeError(`"${text}" is an invalid header name.`)
  return toLowerCase(text)
}

function headerValue(value: unknown): string {
  const text = trimWhitespace(byteString(value))
  if (testPattern(FORBIDDEN_IN_VALUE, text)) throw new TypeError('The header value is invalid.')
  return text
}

function trimWhitespace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isHttpWhitespace(charCodeAt(text, start))) start++
  while (end > start && isHttpWhitespace(charCodeAt(text, end - 1))) end--
  return slice(text, start, end)
}

const isHttpWhitespace = (code: number): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
