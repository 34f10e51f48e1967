import { isEqual } from './equal.ts'

declare const Deno: { inspect(value: unknown): string }

/** Stands in for the assertions of Deno's standard library: the same names, and what each asks. */
export class AssertionError extends Error {
  override name = 'AssertionError'
}

type ErrorClass = abstract new (...args: never[]) => Error

const show = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : inspect(value)

/** Not every runtime has `Deno.inspect`, and not every object a string. */
function inspect(value: unknown): string {
  try {
    return Deno.inspect(value).slice(0, 300)
  } catch {
    return Object.prototype.toString.call(value)
  }
}

/** What a value looks like is worked out only where it is not as it should be: looking may run code of its own. */
function require(holds: boolean, words: () => string, message: string | undefined): void {
  if (!holds) throw new AssertionError(message ? `${words()}: ${message}` : words())
}

export function assert(value: unknown, message = ''): asserts value {
  require(Boolean(value), () => 'It is not truthy', message)
}

export const assertFalse = (value: unknown, message?: string): void =>
  require(!value, () => 'It is not falsy', message)

export const assertEquals = (actual: unknown, expected: unknown, message?: string): void =>
  require(isEqual(actual, expected), () =>
    `${show(actual)} is not equal to ${show(expected)}`, message)

export const assertNotEquals = (actual: unknown, expected: unknown, message?: string): void =>
  require(!isEqual(actual, expected), () => `${show(actual)} is equal`, message)

export const assertStrictEquals = (actual: unknown, expected: unknown, message?: string): void =>
  require(Object.is(actual, expected), () => `${show(actual)} is not ${show(expected)}`, message)

export const assertNotStrictEquals = (actual: unknown, other: unknown, message?: string): void =>
  require(!Object.is(actual, other), () => `${show(actual)} is the same`, message)

export const assertExists = (actual: unknown, message?: string): void =>
  require(actual !== undefined && actual !== null, () => `It is ${show(actual)}`, message)

export const assertInstanceOf = (actual: unknown, type: ErrorClass, message?: string): void =>
  require(actual instanceof type, () => `${show(actual)} is no ${type.name}`, message)

export const assertNotInstanceOf = (actual: unknown, type: ErrorClass, message?: string): void =>
  require(!(actual instanceof type), () => `${show(actual)} is a ${type.name}`, message)

export const assertMatch = (actual: string, pattern: RegExp, message?: string): void =>
  require(pattern.test(actual), () => `${show(actual)} does not match ${pattern}`, message)

export const assertNotMatch = (actual: string, pattern: RegExp, message?: string): void =>
  require(!pattern.test(actual), () => `${show(actual)} matches ${pattern}`, message)

export const assertStringIncludes = (actual: string, part: string, message?: string): void =>
  require(actual.includes(part), () => `${show(actual)} does not hold ${show(part)}`, message)

export const assertArrayIncludes = (
  actual: ArrayLike<unknown>,
  expected: ArrayLike<unknown>,
  message?: string,
): void =>
  require(Array.from(expected).every((one) =>
    Array.from(actual).some((it) => isEqual(it, one)),
  ), () => `${show(actual)} does not hold all of ${show(expected)}`, message)

export const assertGreater = (actual: number, than: number, message?: string): void =>
  require(actual > than, () => `${actual} is not greater than ${than}`, message)

export const assertGreaterOrEqual = (actual: number, than: number, message?: string): void =>
  require(actual >= than, () => `${actual} is less than ${than}`, message)

export const assertLess = (actual: number, than: number, message?: string): void =>
  require(actual < than, () => `${actual} is not less than ${than}`, message)

export const assertLessOrEqual = (actual: number, than: number, message?: string): void =>
  require(actual <= than, () => `${actual} is greater than ${than}`, message)

export const assertAlmostEquals = (
  actual: number,
  expected: number,
  tolerance = 1e-7,
  message?: string,
): void =>
  require(Object.is(actual, expected) || Math.abs(actual - expected) <= tolerance, () =>
    `${actual} is not close to ${expected}`, message)

/** Compares only the properties that are expected, at every depth. */
export const assertObjectMatch = (actual: object, expected: object, message?: string): void =>
  require(isMatch(actual, expected), () =>
    `${show(actual)} lacks a part of ${show(expected)}`, message)

const isMatch = (actual: unknown, expected: unknown): boolean =>
  typeof expected === 'object' && expected !== null && typeof actual === 'object' && actual !== null
    ? Reflect.ownKeys(expected).every((key) =>
        isMatch(Reflect.get(actual, key), Reflect.get(expected, key)),
      )
    : isEqual(actual, expected)

export function assertIsError(
  error: unknown,
  type?: ErrorClass,
  part?: string | RegExp,
  message?: string,
): void {
  require(error instanceof Error, () => `${show(error)} is no Error`, message)
  if (!(error instanceof Error)) return
  if (type) require(error instanceof type, () => `${show(error)} is no ${type.name}`, message)
  if (part === undefined) return
  const holds = typeof part === 'string' ? error.message.includes(part) : part.test(error.message)
  require(holds, () => `The message ${show(error.message)} does not hold ${part}`, message)
}

export function assertThrows(
  run: () => unknown,
  type?: ErrorClass | string,
  part?: string,
  message?: string,
): unknown {
  try {
    run()
  } catch (error) {
    checkThrown(error, type, [part, message])
    return error
  }
  throw new AssertionError('It does not throw')
}

export async function assertRejects(
  run: () => PromiseLike<unknown>,
  type?: ErrorClass | string,
  part?: string,
  message?: string,
): Promise<unknown> {
  let promise: unknown
  try {
    promise = run()
  } catch (error) {
    throw new AssertionError('It throws instead of giving a promise', { cause: error })
  }
  try {
    await promise
  } catch (error) {
    checkThrown(error, type, [part, message])
    return error
  }
  throw new AssertionError('It does not reject')
}

function checkThrown(
  error: unknown,
  type: ErrorClass | string | undefined,
  [part, message]: readonly [part: string | undefined, message: string | undefined],
): void {
  if (typeof type === 'function') assertIsError(error, type, part, message)
}

export function fail(message = 'It fails'): never {
  throw new AssertionError(message)
}

export function unreachable(message = 'It is reached'): never {
  throw new AssertionError(message)
}

export function unimplemented(message = 'It is not written'): never {
  throw new AssertionError(message)
}

export const equal = isEqual
