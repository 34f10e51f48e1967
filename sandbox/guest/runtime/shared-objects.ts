import {
  create,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  hasOwn,
  ownKeys,
  TypeErrorClass,
} from '#sandbox/guest/web/primordials.ts'

import { asyncIteratorPrototype, EXTENSIBLE, freezeIntrinsics, LATE } from './intrinsics.ts'
import { UNBOUNDED } from './lockdown.ts'

interface Names {
  readonly owner: object
  readonly names: readonly PropertyKey[]
}

interface SharedObjects {
  readonly frozen: readonly object[]
  readonly assigned: readonly Names[]
  readonly fixed: readonly Names[]
}

const { preventExtensions } = Object
const LASTING: PropertyDescriptor = Object.assign(create(null), { configurable: false })
const CONSTANT: PropertyDescriptor = Object.assign(create(null), LASTING, { writable: false })
/** Methods that V8 adds to each context after the snapshot. */
const LATE_METHODS: readonly Names[] = [
  { owner: asyncIteratorPrototype, names: [Symbol.asyncDispose] },
  { owner: DataView.prototype, names: ['getFloat16', 'setFloat16'] },
  { owner: Error, names: ['isError'] },
  { owner: Iterator.prototype, names: [Symbol.dispose] },
  { owner: Math, names: ['f16round'] },
  { owner: Promise, names: ['try'] },
  { owner: RegExp, names: ['escape'] },
]
const ErrorConstructor = Error
const ERRORS = [Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError]
/** Settings of V8 that libraries change for a moment, in the middle of a call. */
const [TRACE_LIMIT, TRACE_FORMAT] = ['stackTraceLimit', 'prepareStackTrace'] as const
/**
 * Names that code assigns to objects of its own, which inherit them: `error.name = …`, `counts[word] = …`. A frozen
 * property would forbid it, so these become accessors whose setter gives the object a property of its own.
 */
const ASSIGNED: readonly Names[] = [
  { owner: Object.prototype, names: Object.getOwnPropertyNames(Object.prototype) },
  { owner: Function.prototype, names: ['constructor', 'toString', 'bind'] },
  ...[...ERRORS, TypeError, URIError].map(({ prototype }) => ({
    owner: prototype,
    names: ['constructor', 'name', 'message', 'toString'],
  })),
]
/** What a function may assign to as to a variable of its module. */
const OWN = ['name']
/** They leave the global object when the context boots. */
const FOR_THE_HOST = ['__croft', 'gc']
/** What modules may have extended; everything else is closed in the snapshot. */
const extensible = freezeIntrinsics(
  Object.getOwnPropertyNames(globalThis).filter(
    (name) =>
      !FOR_THE_HOST.includes(name) &&
      !OWN.includes(name) &&
      !UNBOUNDED.some((gone) => gone === name),
  ),
).filter((shared) => shared !== ErrorConstructor)

/** For the sake of the snapshot, which keeps compiled what has run. */
close({
  frozen: [{}],
  assigned: [{ owner: { name: 1 }, names: ['name'] }],
  fixed: [{ owner: { name: 1 }, names: ['name'] }],
})

/**
 * Closes what the calls of a context share beside its modules: the prototypes, constructors and namespaces of the language
 * and the platform, and the names of the globals. Modules may extend and replace them until they have been evaluated; from
 * then on every call finds them as the one before.
 */
export function closeSharedObjects(): void {
  close({ frozen: extensible, assigned: ASSIGNED, fixed: [] })
  if (!hasOwn(ErrorConstructor, TRACE_FORMAT))
    defineProperty(ErrorConstructor, TRACE_FORMAT, ownProperty(undefined))
  const errors = { owner: ErrorConstructor, names: ownKeys(ErrorConstructor) }
  const globals = { owner: globalThis, names: EXTENSIBLE }
  const late = { owner: globalThis, names: LATE }
  close({ frozen: lateObjects(), assigned: [], fixed: [errors, globals, late] })
  preventExtensions(ErrorConstructor)
}

function close({ frozen, assigned, fixed }: SharedObjects): void {
  for (let at = 0; at < assigned.length; at += 1) forEachName(assigned[at] as Names, allowOwn)
  for (let at = 0; at < frozen.length; at += 1) freeze(frozen[at])
  for (let at = 0; at < fixed.length; at += 1) forEachName(fixed[at] as Names, fix)
}

function forEachName({ owner, names }: Names, change: (owner: object, name: string) => void): void {
  for (let at = 0; at < names.length; at += 1) change(owner, names[at] as string)
}

/** Objects that inherit the property from its owner may have one of their own by assignment; the owner keeps its value. */
function allowOwn(owner: object, name: string): void {
  const found = getOwnPropertyDescriptor(owner, name)
  if (!found?.configurable || !hasOwn(found, 'value')) return
  const { value } = found
  const get = (): unknown => value
  // oxlint-disable-next-line typescript/unbound-method -- an accessor is called with its receiver
  const { set } = {
    set(this: object, next: unknown): void {
      if (this === owner) throw new TypeErrorClass(`Cannot assign to read only property '${name}'`)
      defineProperty(this, name, ownProperty(next))
    },
  }
  const accessor = create(null) as PropertyDescriptor
  accessor.get = freeze(get)
  accessor.set = freeze(set)
  accessor.configurable = false
  defineProperty(owner, name, accessor)
}

function ownProperty(value: unknown): PropertyDescriptor {
  const descriptor = create(null) as PropertyDescriptor
  descriptor.value = value
  descriptor.writable = descriptor.enumerable = descriptor.configurable = true
  return descriptor
}

/** Its value stays what it is. */
function fix(owner: object, name: string): void {
  const found = getOwnPropertyDescriptor(owner, name)
  if (!found?.configurable) return
  const isSetting = owner === ErrorConstructor && (name === TRACE_LIMIT || name === TRACE_FORMAT)
  defineProperty(owner, name, hasOwn(found, 'value') && !isSetting ? CONSTANT : LASTING)
}

/** What V8 added to the context after the snapshot, with its methods. */
function lateObjects(): object[] {
  const objects: object[] = []
  const add = (value: unknown): void => {
    defineProperty(objects, objects.length, ownProperty(value))
  }
  const addProperty = (owner: object, name: string): void => {
    const found = getOwnPropertyDescriptor(owner, name)
    add(found?.value)
    add(found?.get)
  }
  for (let at = 0; at < LATE.length; at += 1) {
    const constructor = valueOf(globalThis, LATE[at] as string)
    const prototype = valueOf(constructor, 'prototype')
    add(constructor)
    add(prototype)
    if (prototype) forEachName({ owner: prototype, names: ownKeys(prototype) }, addProperty)
  }
  for (let at = 0; at < LATE_METHODS.length; at += 1)
    forEachName(LATE_METHODS[at] as Names, addProperty)
  return objects
}

/** Of a property that is no accessor. */
const valueOf = (owner: object | undefined, name: string): object | undefined =>
  owner && (getOwnPropertyDescriptor(owner, name)?.value as object | undefined)
