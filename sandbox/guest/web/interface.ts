import {
  create,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  freeze,
  getPrototypeOf,
  objectKeys,
  ownKeys,
  setHas,
  setPrototypeOf,
} from './primordials.ts'

const prototypes = new Set<object>()
/** How far up a site's classes may be from one of the platform's. */
const MAX_DEPTH = 64

export type Constructor = Function & { readonly prototype: object }

/**
 * Puts a class on the global with the look of a WebIDL interface: enumerable members, its tag, its name whatever the
 * minifier made of it, and the count of arguments that its constructor requires.
 */
export function defineInterface(name: string, constructor: Constructor, length = 0): void {
  defineProperty(constructor, 'length', { value: length, configurable: true })
  defineProperty(constructor, 'name', { value: name, configurable: true })
  defineProperty(constructor, 'prototype', { writable: false })
  prototypes.add(constructor.prototype)
  showMembers(constructor.prototype, ['constructor'])
  showMembers(constructor, ['prototype', 'length', 'name'])
  if (!Object.hasOwn(constructor.prototype, Symbol.toStringTag))
    defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true })
  defineGlobal(name, constructor)
}

/** Whether the object is of a class of the platform, or of one that extends one. */
export function isPlatformObject(value: object): boolean {
  let prototype = getPrototypeOf(value)
  for (let depth = 0; prototype !== null && depth < MAX_DEPTH; depth += 1) {
    if (setHas(prototypes, prototype)) return true
    prototype = getPrototypeOf(prototype)
  }
  return false
}

/** Constants of an interface, on the constructor and on its prototype: `Event.AT_TARGET`. */
export function defineConstants(
  constructor: Constructor,
  constants: Readonly<Record<string, number>>,
): void {
  for (const [name, value] of Object.entries(constants))
    for (const target of [constructor, constructor.prototype])
      defineProperty(target, name, { value, enumerable: true })
}

/** Puts something on the global as WebIDL does: writable, configurable; only operations are enumerable. */
export function defineGlobal(name: string, value: unknown, { enumerable = false } = {}): void {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable })
}

/** A WebIDL attribute of the global, which assigning replaces by a plain property. */
export function defineAttribute(name: string, value: unknown): void {
  const accessors = {
    get [name](): unknown {
      return value
    },
    set [name](other: unknown) {
      defineProperty(globalThis, name, {
        value: other,
        writable: true,
        enumerable: true,
        configurable: true,
      })
    },
  }
  defineProperty(globalThis, name, getOwnPropertyDescriptor(accessors, name) as PropertyDescriptor)
}

/** A method that takes its receiver and arguments as they come, with the length WebIDL gives it. */
export function defineOperation<Operation extends Function>(
  name: string,
  length: number,
  body: Operation,
): Operation {
  defineProperty(body, 'name', { value: name, configurable: true })
  defineProperty(body, 'length', { value: length, configurable: true })
  return body
}

/** Shows as many parameters of methods as WebIDL requires arguments for, which optional ones without a default hide. */
export function defineLengths(
  constructor: Constructor,
  lengths: Readonly<Record<string, number>>,
): void {
  for (const [name, length] of Object.entries(lengths)) {
    const method: unknown = getOwnPropertyDescriptor(constructor.prototype, name)?.value
    defineProperty(method as object, 'length', { value: length, configurable: true })
  }
}

/** The accessors of a property that each instance has for itself: shared, so that no code may change them. */
export function sharedAccessors(holder: object, name: string): PropertyDescriptor {
  const descriptor = getOwnPropertyDescriptor(holder, name) ?? {}
  for (const part of Object.values(descriptor)) if (typeof part === 'function') freeze(part)
  setPrototypeOf(descriptor, null)
  return descriptor
}

/** The value that an instance keeps in a private field; undefined for anything else. */
export type StateOf<State> = (value: unknown) => State | undefined

/** Read-only attributes, each computed from the state of the receiver. */
export function defineAttributes<State>(
  constructor: Constructor,
  stateOf: StateOf<State>,
  attributes: Readonly<Record<string, (state: State) => unknown>>,
): void {
  for (const [name, read] of Object.entries(attributes))
    copyMember(constructor, name, {
      get [name](): unknown {
        return read(requireState(stateOf, this))
      },
    })
}

/** Methods without parameters, on the state of the receiver. */
export function defineMethods<State>(
  constructor: Constructor,
  stateOf: StateOf<State>,
  methods: Readonly<Record<string, (state: State) => unknown>>,
): void {
  for (const [name, run] of Object.entries(methods))
    copyMember(constructor, name, {
      [name](): unknown {
        return run(requireState(stateOf, this))
      },
    })
}

/** Takes the static fields off a class: functions that see its private state, which site code must not reach. */
export function takeInternals<Class extends Constructor>(constructor: Class): Class {
  const internals = Object.assign(create(null) as Class, constructor)
  for (const name of objectKeys(constructor)) deleteProperty(constructor, name)
  return internals
}

/** Puts a member of a plain object on the prototype, with its name and as it is. */
export function copyMember(constructor: Constructor, name: string, members: object): void {
  const descriptor = getOwnPropertyDescriptor(members, name)
  if (descriptor !== undefined) defineProperty(constructor.prototype, name, descriptor)
}

function requireState<State>(stateOf: StateOf<State>, receiver: unknown): State {
  const state = stateOf(receiver)
  if (state === undefined) throw new TypeError('Illegal invocation')
  return state
}

function showMembers(target: object, hidden: readonly string[]): void {
  for (const key of ownKeys(target)) {
    if (typeof key === 'symbol' || hidden.includes(key)) continue
    const descriptor = getOwnPropertyDescriptor(target, key)
    if (descriptor?.configurable) defineProperty(target, key, { ...descriptor, enumerable: true })
  }
}
