/** Whether two values have the same content, as the assertions of Deno's standard library mean it. */
export function isEqual(one: unknown, other: unknown): boolean {
  return compare(one, other, new Map())
}

type Seen = Map<object, object>

function compare(one: unknown, other: unknown, seen: Seen): boolean {
  if (Object.is(one, other)) return true
  if (!isObject(one) || !isObject(other)) return false
  if (seen.get(one) === other) return true
  seen.set(one, other)
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other) && !areBothPlain(one, other))
    return false
  return isSameValue(one, other) && compareContent(one, other, seen)
}

/** What an object stands for where its properties do not say so. */
function isSameValue(one: object, other: object): boolean {
  if ([WeakMap, WeakSet, Promise].some((type) => one instanceof type)) return false
  return Object.is(valueIn(one), valueIn(other))
}

function valueIn(it: object): unknown {
  if (it instanceof Date || it instanceof Number || it instanceof Boolean) return it.valueOf()
  if (it instanceof RegExp || it instanceof URL || it instanceof String) return it.toString()
  return it instanceof Error ? `${it.name}: ${it.message}` : undefined
}

function compareContent(one: object, other: object, seen: Seen): boolean {
  if (one instanceof Set && other instanceof Set) return areSetsEqual(one, other, seen)
  if (one instanceof Map && other instanceof Map) return areMapsEqual(one, other, seen)
  if (one instanceof ArrayBuffer && other instanceof ArrayBuffer)
    return compare(new Uint8Array(one), new Uint8Array(other), seen)
  const keys = keysOf(one, other)
  return (
    keys.size === keysOf(other, one).size &&
    [...keys].every((key) => compare(Reflect.get(one, key), Reflect.get(other, key), seen))
  )
}

/** A property that is undefined is as good as absent, unless the other object has it. */
const keysOf = (owner: object, other: object): Set<PropertyKey> =>
  new Set(
    Reflect.ownKeys(owner).filter(
      (key) =>
        Object.prototype.propertyIsEnumerable.call(owner, key) &&
        (Reflect.get(owner, key) !== undefined || Object.hasOwn(other, key)),
    ),
  )

const areSetsEqual = (one: Set<unknown>, other: Set<unknown>, seen: Seen): boolean =>
  one.size === other.size &&
  [...one].every((value) =>
    [...other].some((candidate) => compare(value, candidate, new Map(seen))),
  )

const areMapsEqual = (
  one: Map<unknown, unknown>,
  other: Map<unknown, unknown>,
  seen: Seen,
): boolean =>
  one.size === other.size &&
  [...one].every((entry) =>
    [...other].some((candidate) => compare(entry, candidate, new Map(seen))),
  )

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

const areBothPlain = (...both: readonly object[]): boolean =>
  both.every((one) => {
    const prototype: unknown = Object.getPrototypeOf(one)
    return prototype === null || prototype === Object.prototype
  })
