import { copyMember, defineLengths } from './interface.ts'
import type { Constructor } from './interface.ts'
import {
  apply,
  defineProperty,
  deleteProperty,
  filter,
  findIndex,
  getPrototypeOf,
  map,
  objectKeys,
  reflectGet,
  setPrototypeOf,
} from './primordials.ts'
import { requireArguments } from './webidl.ts'

/** A name with one of its values: headers and forms are ordered lists of these. */
export type Pair<Value> = readonly [string, Value]

export const valuesOf = <Value>(pairs: readonly Pair<Value>[], name: string): Value[] =>
  map(
    filter(pairs, (pair) => pair[0] === name),
    (pair) => pair[1],
  )

export const without = <Value>(pairs: readonly Pair<Value>[], name: string): Pair<Value>[] =>
  filter(pairs, (pair) => pair[0] !== name)

/** The pair in the place of the first of its name, or at the end; the others of its name are gone. */
export function withReplaced<Value>(
  pairs: readonly Pair<Value>[],
  made: Pair<Value>,
): Pair<Value>[] {
  const first = findIndex(pairs, (pair) => pair[0] === made[0])
  const kept = filter(pairs, (pair, index) => pair[0] !== made[0] || index === first)
  kept[first === -1 ? kept.length : first] = made
  return kept
}

/** Defines the members of a WebIDL `iterable`; each step reads the pairs again. */
export function defineIterable<Target extends object, Value>(
  name: string,
  constructor: Constructor & { readonly prototype: Target },
  pairsOf: (target: Target) => readonly Pair<Value>[],
): void {
  const iterate = iteratorsOf(name, pairsOf)
  const members = {
    forEach(this: Target, callback: unknown, self?: unknown): void {
      requireArguments(arguments.length, 1, `Failed to execute 'forEach' on '${name}'`)
      pairsOf(this)
      if (typeof callback !== 'function')
        throw new TypeError(
          `Failed to execute 'forEach' on '${name}': Argument 1 can not be converted to a function`,
        )
      for (let index = 0; ; index++) {
        const pair = pairsOf(this)[index]
        if (pair === undefined) return
        apply(callback, self, [pair[1], pair[0], this])
      }
    },
    keys(this: Target) {
      return iterate(this, (pair) => pair[0])
    },
    values(this: Target) {
      return iterate(this, (pair) => pair[1])
    },
    entries(this: Target) {
      return iterate(this, (pair) => [pair[0], pair[1]])
    },
  }
  for (const key of objectKeys(members)) copyMember(constructor, key, members)
  defineLengths(constructor, { forEach: 1 })
  defineProperty(constructor.prototype, Symbol.iterator, {
    value: reflectGet(members, 'entries'),
    writable: true,
    configurable: true,
  })
}

const IteratorPrototype = getPrototypeOf(getPrototypeOf([].values()) ?? {})

/** Makes iterators with the look of WebIDL's: https://webidl.spec.whatwg.org/#dfn-iterator-prototype-object */
function iteratorsOf<Target extends object, Value>(
  name: string,
  pairsOf: (target: Target) => readonly Pair<Value>[],
) {
  class PairIterator {
    readonly #target: Target
    readonly #select: (pair: Pair<Value>) => unknown
    #index = 0

    constructor(target: Target, select: (pair: Pair<Value>) => unknown) {
      pairsOf(target)
      this.#target = target
      this.#select = select
    }

    next(): { value: unknown; done: boolean } {
      const pair = pairsOf(this.#target)[this.#index]
      if (pair === undefined) return { value: undefined, done: true }
      this.#index += 1
      return { value: this.#select(pair), done: false }
    }
  }
  const { prototype } = PairIterator
  setPrototypeOf(prototype, IteratorPrototype)
  deleteProperty(prototype, 'constructor')
  defineProperty(prototype, 'next', { enumerable: true })
  defineProperty(prototype, Symbol.toStringTag, { value: `${name} Iterator`, configurable: true })
  return (target: Target, select: (pair: Pair<Value>) => unknown): PairIterator =>
    new PairIterator(target, select)
}
