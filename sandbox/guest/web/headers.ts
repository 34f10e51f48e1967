import { defineInterface, takeInternals } from './interface.ts'
import { defineIterable, valuesOf, without, withReplaced } from './pairs.ts'
import type { Pair } from './pairs.ts'
import {
  charCodeAt,
  forEach,
  getOwnPropertyDescriptor,
  isArray,
  map,
  ownKeys,
  push,
  reflectGet,
  slice,
  testPattern,
  toLowerCase,
} from './primordials.ts'
import { byteString, isWebIdlObject, requireArguments, sequence, TOKEN } from './webidl.ts'

type HeaderPair = Pair<string>

const FORBIDDEN_IN_VALUE = /[\0\r\n]/

/** https://fetch.spec.whatwg.org/#headers-class; a server's view: no header name is forbidden. */
export class Headers {
  /** Lower-case names with normalised values, in order of arrival. */
  #pairs: HeaderPair[] = []
  #immutable = false

  constructor(init?: unknown) {
    if (init === undefined) return
    if (!isWebIdlObject(init))
      throw new TypeError(
        "Failed to construct 'Headers': Argument 1 The provided value is not of type '(sequence<sequence<ByteString>> or record<ByteString, ByteString>)'",
      )
    const iterate: unknown = reflectGet(init, Symbol.iterator)
    if (#pairs in init && iterate === entries) this.#pairs = map(init.#pairs, (pair) => pair)
    else if (iterate !== undefined && iterate !== null) this.#appendPairs(init)
    else this.#appendRecord(init)
  }

  append(name: string, value: string): void {
    requireArguments(arguments.length, 2, "Failed to execute 'append' on 'Headers'")
    this.#add(headerName(name), headerValue(value))
  }

  delete(name: string): void {
    requireArguments(arguments.length, 1, "Failed to execute 'delete' on 'Headers'")
    const wanted = headerName(name)
    this.#requireMutable()
    this.#pairs = without(this.#pairs, wanted)
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
    this.#pairs = withReplaced(this.#pairs, [wanted, text])
  }

  getSetCookie(): string[] {
    return valuesOf(this.#pairs, 'set-cookie')
  }

  static readonly pairsOf = (headers: Headers): readonly HeaderPair[] => {
    return headers.#pairs
  }

  static readonly sortedPairs = (headers: Headers): readonly HeaderPair[] => {
    return headers.#sorted()
  }

  /** `get`, and `set` unless it is there, for the platform itself: a lower-case name and a valid value are taken for granted. */
  static readonly headerOf = (headers: Headers, name: string): string | null => {
    return headers.#combined(name)
  }

  static readonly implyHeader = (headers: Headers, name: string, value: string | null): void => {
    if (value !== null && headers.#combined(name) === null) headers.#add(name, value)
  }

  /** Headers as they were received, which site code may only read. */
  static readonly received = (pairs: readonly HeaderPair[]): Headers => {
    const headers = new Headers()
    forEach(pairs, (pair) => headers.#add(toLowerCase(pair[0]), pair[1]))
    headers.#immutable = true
    return headers
  }

  static readonly seal = (headers: Headers): Headers => {
    headers.#immutable = true
    return headers
  }

  #appendPairs(init: object): void {
    forEach(sequence(init, "Failed to construct 'Headers'"), (entry) => {
      const pair = isArray(entry) ? entry : sequence(entry, "Failed to construct 'Headers'")
      if (pair.length !== 2)
        throw new TypeError(`Invalid header: length must be 2, but is ${pair.length}`)
      this.#add(headerName(pair[0]), headerValue(pair[1]))
    })
  }

  /** A WebIDL record: names and values are converted one after the other before any is looked at. */
  #appendRecord(init: object): void {
    const pairs: HeaderPair[] = []
    forEach(ownKeys(init), (key) => {
      if (getOwnPropertyDescriptor(init, key)?.enumerable !== true) return
      const name = byteString(key)
      push(pairs, [name, byteString(reflectGet(init, key))])
    })
    forEach(pairs, (pair) => this.#add(headerName(pair[0]), headerValue(pair[1])))
  }

  #add(name: string, value: string): void {
    this.#requireMutable()
    this.#pairs[this.#pairs.length] = [name, value]
  }

  #combined(name: string): string | null {
    let combined: string | null = null
    forEach(this.#pairs, (pair) => {
      if (pair[0] === name) combined = combined === null ? pair[1] : `${combined}, ${pair[1]}`
    })
    return combined
  }

  /** "Sort and combine": cookies stay apart. */
  #sorted(): HeaderPair[] {
    const names = [...new Set(this.#pairs.map((pair) => pair[0]))].toSorted()
    return names.flatMap((name): HeaderPair[] =>
      name === 'set-cookie'
        ? this.getSetCookie().map((value) => [name, value])
        : [[name, this.#combined(name) ?? '']],
    )
  }

  #requireMutable(): void {
    if (this.#immutable) throw new TypeError('Cannot change headers: headers are immutable')
  }
}

export const { pairsOf, sortedPairs, received, seal, headerOf, implyHeader } =
  takeInternals(Headers)
defineIterable('Headers', Headers, sortedPairs)
defineInterface('Headers', Headers)
const entries: unknown = reflectGet(Headers.prototype, Symbol.iterator)

function headerName(name: unknown): string {
  const text = byteString(name)
  if (!testPattern(TOKEN, text)) throw new TypeError(`Invalid header name: "${text}"`)
  return toLowerCase(text)
}

function headerValue(value: unknown): string {
  const text = trimWhitespace(byteString(value))
  if (testPattern(FORBIDDEN_IN_VALUE, text)) throw new TypeError(`Invalid header value: "${text}"`)
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
