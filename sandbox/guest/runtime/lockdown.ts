import { defineProperty, deleteProperty, ProxyClass } from '#sandbox/guest/web/primordials.ts'

/** Memory that these allocate is not counted against an isolate's limit, or can be made to outgrow it. */
const UNBOUNDED = ['SharedArrayBuffer', 'Atomics', 'WebAssembly'] as const

const { preventExtensions } = Object
const construct = Reflect.construct

/** Makes `ArrayBuffer` fixed in size, however it is reached. Done once, in the snapshot. */
export function fixArrayBuffers(): void {
  const native = ArrayBuffer
  const fixed: ArrayBufferConstructor = new ProxyClass(native, {
    construct: (_target, args, newTarget): ArrayBuffer =>
      construct(native, [args[0]], newTarget === fixed ? native : newTarget) as ArrayBuffer,
  })
  const hidden = { value: fixed, writable: true, enumerable: false, configurable: true } as const
  defineProperty(native.prototype, 'constructor', hidden)
  defineProperty(globalThis, 'ArrayBuffer', hidden)
}

/** V8 puts these back whenever a context is made from a snapshot, so each context has to remove them. */
export function removeUnbounded(): void {
  for (let index = 0; index < UNBOUNDED.length; index += 1) {
    deleteProperty(globalThis, UNBOUNDED[index] as string)
  }
}

/**
 * What one call puts on `Object.prototype`, as a careless merge of a payload's `__proto__` does, every later call would
 * find on every object. What is there already may still be replaced, so that classes may override it by assignment.
 */
export const closeObjectPrototype = (): void => {
  preventExtensions(Object.prototype)
}
