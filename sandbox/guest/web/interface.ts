import {
  create,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  objectKeys,
  ownKeys,
} from './primordials.ts'

export type Constructor = Function & { readonly prototype: object }

/**
 * Puts a class on the global with the look of a WebIDL interface: enumerable members, its tag, its name whatever the
 * minifier made of it, and the count of arguments that its constructor requires.
 */
export function defineInterface(name: string, constructor: Constructor, length = 0): void {
  defineProperty(constructor, 'length', { value: length, configurable: true })
  defineProperty(constructor, 'name', { value: name, configurable: true })
  defineProperty(constructor, 'prototype', { writable: false })
  for (const target of [constructor.prototype, constructor]) showMembers(target)
  if (!Object.hasOwn(constructor.prototype, Symbol.toStringTag))
    defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true })
  defineGlobal(name, constructor)
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

function showMembers(target: object): void {
  for (const key of ownKeys(target)) {
    if (typeof key === 'symbol' || BUILT_IN.has(key)) continue
    const descriptor = getOwnPropertyDescriptor(target, key)
    if (descriptor?.configurable) defineProperty(target, key, { ...descriptor, enumerable: true })
  }
}

const BUILT_IN = new Set(['constructor', 'prototype', 'length', 'name'])
