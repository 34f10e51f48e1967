// oxlint-disable typescript/unbound-method -- taking methods off their prototypes is what this file is for
/**
 * The built-ins that the call runtime uses, taken before site code can replace them. Nothing in the runtime may look a
 * method up on a value, spread, destructure an array or assign to a property that is not there yet: site code can hook
 * all of these.
 */
const uncurry = Function.prototype.bind.bind(Function.prototype.call) as <
  This,
  Rest extends unknown[],
  Out,
>(
  method: (this: This, ...rest: Rest) => Out,
) => (self: This, ...rest: Rest) => Out

export const jsonParse: (text: string) => unknown = JSON.parse
export const jsonStringify: (value: unknown) => string | undefined = JSON.stringify
export const jsonStringifyWith: (
  value: unknown,
  replace: (name: string, value: unknown) => unknown,
) => string | undefined = JSON.stringify
export const { apply, deleteProperty, setPrototypeOf } = Reflect
export const { defineProperty, freeze, create, hasOwn } = Object
export const { captureStackTrace } = Error
export const { isFinite, isInteger } = Number
export const { floor } = Math
export const dateNow = Date.now
export const PromiseClass = Promise
export const ErrorClass = Error
export const TypeErrorClass = TypeError
export const ProxyClass = Proxy
export const toText = String

export const slice = uncurry(String.prototype.slice) as (
  text: string,
  start: number,
  end?: number,
) => string
export const indexOf = uncurry(String.prototype.indexOf) as (
  text: string,
  part: string,
  from?: number,
) => number

const inherits = uncurry(Object.prototype.isPrototypeOf)
const promises = Promise.prototype

export const isPromise = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && inherits(promises, value)

/** A Map whose methods site code cannot reach. */
export class SafeMap<Value> {
  readonly #map = new Map<number | string, Value>()

  get(key: number | string): Value | undefined {
    return mapGet(this.#map, key) as Value | undefined
  }
  set(key: number | string, value: Value): void {
    mapSet(this.#map, key, value)
  }
  delete(key: number | string): void {
    mapDelete(this.#map, key)
  }
  get size(): number {
    return mapSize(this.#map)
  }
}

const mapGet = uncurry(Map.prototype.get)
const mapSet = uncurry(Map.prototype.set)
const mapDelete = uncurry(Map.prototype.delete)
const mapSize = uncurry(
  Object.getOwnPropertyDescriptor(Map.prototype, 'size')?.get as (this: object) => number,
)
