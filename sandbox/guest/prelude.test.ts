import ivm from 'isolated-vm'
import { describe, expect, test } from 'vitest'

import { bundleGuest } from '#sandbox/guest/bundle.ts'

const MAX_CHARS = 304 * 1024
const ADDED = `
AbortController AbortSignal Blob BroadcastChannel ByteLengthQueuingStrategy
CloseEvent CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DecompressionStream Deno
ErrorEvent Event EventTarget File FileReader FormData Headers MessageChannel MessageEvent
MessagePort Navigator Performance PerformanceEntry PerformanceMark
PerformanceMeasure PerformanceObserver PerformanceObserverEntryList ProgressEvent
PromiseRejectionEvent QuotaExceededError ReadableByteStreamController ReadableStream
ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController
ReadableStreamDefaultReader Request Response SubtleCrypto TextDecoder
TextDecoderStream TextEncoder TextEncoderStream TransformStream
TransformStreamDefaultController URL URLPattern URLSearchParams Window
WritableStream WritableStreamDefaultController WritableStreamDefaultWriter __croft
atob btoa clearInterval clearTimeout crypto fetch name navigator onerror
onunhandledrejection performance queueMicrotask reportError self setInterval
setTimeout structuredClone`
  .trim()
  .split(/\s+/)
const BARE = `JSON.stringify(Object.getOwnPropertyNames(globalThis))`

describe('the prelude', () => {
  test('is small', async () => {
    expect((await bundleGuest()).prelude.length).toBeLessThan(MAX_CHARS)
  })

  test('is ASCII, which V8 keeps in one byte a character', async () => {
    const { prelude, parts } = await bundleGuest()
    for (const script of [prelude, ...Object.values(parts)]) expect(script).toMatch(/^\p{ASCII}+$/u)
  })

  test('is the same script each time, so that a snapshot can be kept', async () => {
    expect(await bundleGuest()).toEqual(await bundleGuest())
  })

  test('adds to a context made from its snapshot what it says and nothing else', async () => {
    const { prelude: code } = await bundleGuest()
    const snapshot = ivm.Isolate.createSnapshot([{ code }])
    using with_ = openContext(new ivm.Isolate({ snapshot }))
    using bare = openContext(new ivm.Isolate())
    const added = new Set(with_.names).difference(new Set(bare.names))
    expect([...added].toSorted()).toEqual(ADDED)
    expect(
      with_.context.evalSync(`Object.getOwnPropertyDescriptor(globalThis, '__croft')?.enumerable`),
    ).toBe(false)
  })

  test('calls nothing of its host while it loads', async () => {
    using isolate = openContext(new ivm.Isolate())
    isolate.context.evalSync((await bundleGuest()).prelude)
    expect(isolate.context.evalSync(`typeof fetch`)).toBe('function')
  })
})

function openContext(isolate: ivm.Isolate) {
  const context = isolate.createContextSync()
  return {
    context,
    names: JSON.parse(String(context.evalSync(BARE))) as string[],
    [Symbol.dispose]: () => isolate.dispose(),
  }
}
