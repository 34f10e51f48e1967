import {
  create,
  defineProperty,
  deleteProperty,
  hasOwn,
  ProxyClass,
} from '#sandbox/guest/web/primordials.ts'

/** Memory that these allocate is not counted against an isolate's limit, or can be made to outgrow it. */
export const UNBOUNDED = ['SharedArrayBuffer', 'Atomics', 'WebAssembly'] as const

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

/** V8 puts it on every context permanently; the host has taken it by now. */
export function hideCollector(): void {
  if (!hasOwn(globalThis, 'gc')) return
  const nothing = create(null) as PropertyDescriptor
  nothing.value = undefined
  nothing.writable = false
  defineProperty(globalThis, 'gc', nothing)
}

/**
 * Nothing can be added to `Object.prototype`, not even while a module loads. What is there may be replaced until then.
 */
export const closeObjectPrototype = (): void => {
  preventExtensions(Object.prototype)
}
