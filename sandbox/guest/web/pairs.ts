import { copyMember } from './interface.ts'
import type { Constructor } from './interface.ts'
import {
  apply,
  defineProperty,
  filter,
  findIndex,
  map,
  objectKeys,
  reflectGet,
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

/** The members of a WebIDL `iterable`; the pairs are read anew at each step. */
export function defineIterable<Target extends object, Value>(
  constructor: Constructor & { readonly prototype: Target },
  pairsOf: (target: Target) => readonly Pair<Value>[],
): void {
  function* iterate<Item>(target: Target, select: (name: string, value: Value) => Item) {
    for (let index = 0; ; index++) {
      const pair = pairsOf(target)[index]
      if (pair === undefined) return
      yield select(pair[0], pair[1])
    }
  }
  const members = {
    forEach(this: Target, callback: unknown, self?: unknown): void {
      requireArguments(arguments.length, 1, "Failed to execute 'forEach'")
      if (typeof callback !== 'function') throw new TypeError('parameter 1 is not a function.')
      for (const [name, value] of iterate(this, (...pair) => pair))
        apply(callback, self, [value, name, this])
    },
    keys(this: Target) {
      return iterate(this, (name) => name)
    },
    values(this: Target) {
      return iterate(this, (_name, value) => value)
    },
    entries(this: Target) {
      return iterate(this, (name, value): [string, Value] => [name, value])
    },
  }
  for (const name of objectKeys(members)) copyMember(constructor, name, members)
  defineProperty(constructor.prototype, Symbol.iterator, {
    value: reflectGet(members, 'entries'),
    writable: true,
    configurable: true,
  })
}
