import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'
import { runOnNode } from '#sandbox/guest/testing/platform.ts'

/** Runs in an isolate and in Node, and expects the same results. */
const AS_NODE: Readonly<Record<string, string>> = {
  'a message through a channel': `const { port1, port2 } = new MessageChannel(); const got = new Promise((r) => { port2.onmessage = (e) => r([e.data, e.type, e.ports.length, Object.isFrozen(e.ports)]) }); port1.postMessage({ a: [1, new Map([[1, 2]])] }); const answer = await got; port1.close(); return answer`,
  'messages in their order, after the port is closed': `const { port1, port2 } = new MessageChannel(); for (let i = 0; i < 5; i++) port1.postMessage(i); port1.close(); const got = []; await new Promise((r) => { port2.onmessage = (e) => { got.push(e.data); if (got.length === 5) r() } }); return got`,
  'a port sent through another': `const a = new MessageChannel(), b = new MessageChannel(); const got = new Promise((r) => { a.port2.onmessage = ({ data, ports }) => { ports[0].onmessage = (e) => r([e.data, ports[0] === data.port, ports.length]) } }); a.port1.postMessage({ port: b.port1 }, [b.port1]); b.port2.postMessage('far'); const answer = await got; a.port1.close(); b.port2.close(); return answer`,
  'messages that cannot be sent': `const { port1, port2 } = new MessageChannel(); const used = new ArrayBuffer(1); structuredClone(used, { transfer: [used] }); const out = [() => port1.postMessage(() => {}), () => port1.postMessage(1, [port1]), () => port1.postMessage(1, [{}]), () => port1.postMessage(), () => port1.postMessage(1, [used]), () => new MessagePort()].map((f) => { try { f(); return 'ok' } catch (e) { return e.name } }); port1.close(); port2.close(); return out`,
  'an event that brings a message': `const e = new MessageEvent('message', { data: 1, origin: 'o', lastEventId: '7' }); return [e.data, e.origin, e.lastEventId, e.source, e.ports, new MessageEvent('x').data, e instanceof Event]`,
  transferring: `const b = new Uint8Array([1, 2, 3]).buffer; const c = structuredClone({ b, v: new Uint8Array(b, 1) }, { transfer: [b] }); return [b.byteLength, b.detached, [...c.v], c.v.buffer === c.b]`,
  'transferring streams': `const out = []; const r = new ReadableStream({ start(c) { c.enqueue({ a: 1 }); c.close() } }); const s = structuredClone(r, { transfer: [r] }); for await (const c of s) out.push(c); const got = []; const w = new WritableStream({ write(c) { got.push(c) }, close() { got.push('closed') } }); const v = structuredClone({ w }, { transfer: [w] }).w; const p = v.getWriter(); await p.write([1]); await p.close(); out.push(got); const t = new TransformStream({ transform(c, k) { k.enqueue(c * 2) } }); const u = structuredClone(t, { transfer: [t] }); const q = u.writable.getWriter(); q.write(4); q.close(); for await (const c of u.readable) out.push(c); out.push(u instanceof TransformStream); for (const bad of [new ReadableStream(), new WritableStream()]) { (bad.getReader ?? bad.getWriter).call(bad); try { structuredClone(bad, { transfer: [bad] }) } catch (e) { out.push(e.name) } } return out`,
  'errors with their cause': `class Mine extends RangeError {} const e = structuredClone(new Mine('m', { cause: { why: [1] } })); return [e.constructor.name, e.message, e.cause, Object.keys(e), e instanceof RangeError]`,
  'what has no copy': `return [() => {}, Symbol('x'), new WeakMap(), new WeakRef({}), Promise.resolve(), (function* () {})(), { a: { b() {} } }].map((v) => { try { structuredClone(v); return 'ok' } catch (e) { return [e.name, e.code] } })`,
  'objects of the platform that have no copy': `return [new Headers(), new Response(), new Request('http://a')].map((v) => { try { structuredClone(v); return 'ok' } catch (e) { return e.name } })`,
  'made-up tags': `return [structuredClone({ [Symbol.toStringTag]: 'Map', a: 1 }), structuredClone(Object.assign(new Date(5), { [Symbol.toStringTag]: 'Set' })), structuredClone(new (class extends Map { get [Symbol.toStringTag]() { return 'X' } })([[1, 2]])).get(1)]`,
  'an exception': `const e = structuredClone(new DOMException('m', 'DataCloneError')); return [e.name, e.message, e.code, e instanceof DOMException, typeof e.stack]`,
  'marks and measures': `performance.clearMarks(); performance.clearMeasures(); const m = performance.mark('a', { startTime: 5, detail: { x: 1 } }); performance.mark('b', { startTime: 9 }); const r = performance.measure('r', 'a', 'b'); const s = performance.measure('s', { start: 'a', duration: 3, detail: 1 }); return [m.toJSON(), r.toJSON(), s.toJSON(), performance.getEntriesByName('a').length, performance.getEntriesByType('measure').map((e) => e.name), m instanceof PerformanceMark, r instanceof PerformanceEntry]`,
  'marks that are refused': `return [() => performance.mark('a', { startTime: -1 }), () => performance.mark('a', 1), () => performance.measure('m', 'no such'), () => performance.measure('m', { start: 1, end: 2, duration: 1 }), () => performance.mark('a', { detail: () => {} }), () => new PerformanceEntry(), () => new PerformanceMeasure()].map((f) => { try { f(); return 'ok' } catch (e) { return e.name } })`,
  'observing marks': `const seen = []; await new Promise((r) => { const o = new PerformanceObserver((list) => { seen.push(...list.getEntries().map((e) => e.name)); o.disconnect(); r() }); o.observe({ type: 'mark' }); performance.mark('seen'); performance.measure('not seen') }); performance.clearMarks(); performance.clearMeasures(); return seen`,
  'handlers in their place': `const t = new AbortController(); const order = []; t.signal.addEventListener('abort', () => order.push(1)); t.signal.onabort = () => order.push('old'); t.signal.addEventListener('abort', () => order.push(3)); t.signal.onabort = (e) => order.push([e.isTrusted, e.target === t.signal]); t.abort(); return [order, typeof t.signal.onabort]`,
  'constants of exceptions': `return [DOMException.DOMSTRING_SIZE_ERR, DOMException.VALIDATION_ERR, new DOMException('', 'SyntaxError').code, new DOMException('x', null).name]`,
}

/** Asked of an isolate alone: Node lacks it, or answers differently. */
const ASKED: readonly (readonly [name: string, body: string, answer: unknown])[] = [
  [
    'the clock moves while code runs',
    `const a = performance.now(); const until = Date.now() + 20; while (Date.now() < until); const b = performance.now(); return [a > 0, b - a >= 15, Math.abs(performance.timeOrigin + b - Date.now()) < 50]`,
    [true, true, true],
  ],
  [
    'the global is an event target',
    `const out = []; globalThis.addEventListener('mine', function (e) { out.push(this === globalThis, e.target === globalThis) }, { once: true }); dispatchEvent(new Event('mine')); const { addEventListener } = EventTarget.prototype; addEventListener('other', () => out.push('bare'), { once: true }); globalThis.dispatchEvent(new Event('other')); return [...out, globalThis instanceof Window, globalThis instanceof EventTarget, String(globalThis)]`,
    [true, true, 'bare', true, true, '[object Window]'],
  ],
  [
    'onerror has five arguments, and true takes the error',
    `let got; globalThis.onerror = (...all) => { got = all; return true }; const mine = new Error('lost'); reportError(mine); globalThis.onerror = null; return [got[0], typeof got[1], got[2] > 0, got[4] === mine, globalThis.onerror]`,
    ['Uncaught Error: lost', 'string', true, true, null],
  ],
  [
    'a channel for all of a context',
    `const a = new BroadcastChannel('n'), b = new BroadcastChannel('n'), c = new BroadcastChannel('m'); let wrong = 0; a.onmessage = c.onmessage = () => wrong++; const got = new Promise((r) => { b.onmessage = (e) => r(e.data) }); a.postMessage([1]); const data = await got; a.close(); b.close(); c.close(); return [data, wrong, (() => { try { a.postMessage(1) } catch (e) { return e.name } })()]`,
    [[1], 0, 'InvalidStateError'],
  ],
  [
    'a port without a reader keeps so many messages and no more',
    `const { port1 } = new MessageChannel(); let sent = 0; try { for (; sent < 20000; sent++) port1.postMessage(1) } catch (e) { return [sent, e.name] }`,
    [10_000, 'QuotaExceededError'],
  ],
  [
    'a quota that is exceeded',
    `const e = new QuotaExceededError('full', { quota: 1, requested: 2 }); const c = structuredClone(e); return [e.name, e.code, e.quota, c.requested, c instanceof QuotaExceededError, (() => { try { new QuotaExceededError('', { quota: 2, requested: 1 }) } catch (e) { return e.name } })()]`,
    ['QuotaExceededError', 22, 1, 2, true, 'RangeError'],
  ],
  [
    'the stack of an exception is an accessor that all share',
    `const d = Object.getOwnPropertyDescriptor(new DOMException('m'), 'stack'); const e = new DOMException('m'); e.stack = 'mine'; return [typeof d.get, typeof d.set, e.stack, Object.isFrozen(d.get), Object.isFrozen(d.set)]`,
    ['function', 'function', 'mine', true, true],
  ],
  [
    'aborts dependent signals before any listener runs, and fires their events in order',
    `const c = new AbortController(); const order = []; const a = AbortSignal.any([c.signal]); const b = AbortSignal.any([a]); b.addEventListener('abort', () => order.push('b')); a.addEventListener('abort', () => order.push('a')); c.signal.addEventListener('abort', () => order.push(['c', a.aborted, b.aborted])); c.abort('why'); return [order, b.reason]`,
    [[['c', true, true], 'a', 'b'], 'why'],
  ],
  [
    'whether an event is trusted is no business of its class',
    `const e = new Event('x'); const d = Object.getOwnPropertyDescriptor(e, 'isTrusted'); return [e.isTrusted, d.configurable, d.enumerable, d.get === Object.getOwnPropertyDescriptor(new Event('y'), 'isTrusted').get]`,
    [false, false, true, true],
  ],
  [
    'a timeout beyond all bounds never comes',
    `const s = AbortSignal.timeout(2 ** 53 - 1); await new Promise((r) => setTimeout(r, 10)); return s.aborted`,
    false,
  ],
  [
    'timers evaluate text in the global scope, and take no other receiver',
    `globalThis.counted = 0; const evaluate = globalThis.eval; setTimeout('globalThis.counted += typeof host === "undefined" ? 1 : 100', 1); await new Promise((r) => setTimeout(r, 10)); return [counted, [() => setTimeout.call({}, () => {}), () => setTimeout(() => {}, 1n), () => clearTimeout(1n)].map((f) => { try { f(); return 'ok' } catch (e) { return e.name } })]`,
    [1, ['TypeError', 'TypeError', 'TypeError']],
  ],
  [
    'attributes of the global may be replaced where nothing is closed',
    `const d = Object.getOwnPropertyDescriptor(globalThis, 'onerror'); return [typeof d.get, typeof d.set, d.enumerable, navigator.language, navigator.hardwareConcurrency]`,
    ['function', 'function', true, 'en-US', 1],
  ],
]

/** What Deno says of bad arguments. */
const REFUSED: readonly (readonly [code: string, message: string])[] = [
  [
    `new Headers(1)`,
    "Failed to construct 'Headers': Argument 1 The provided value is not of type '(sequence<sequence<ByteString>> or record<ByteString, ByteString>)'",
  ],
  [`new Headers([['a']])`, 'Invalid header: length must be 2, but is 1'],
  [`new Headers({ 'a b': 'x' })`, 'Invalid header name: "a b"'],
  [`new Headers([['x', '\\u0000x']])`, 'Invalid header value: "\u0000x"'],
  [
    `new Headers().get()`,
    "Failed to execute 'get' on 'Headers': 1 argument required, but only 0 present",
  ],
  [`Response.error().headers.set('a', 'b')`, 'Cannot change headers: headers are immutable'],
  [`new Request('http://a', { method: 'a b' })`, 'Method is not valid'],
  [`new Request('http://a', { body: 'x' })`, 'Request with GET/HEAD method cannot have body'],
  [
    `new Request('http://a', { redirect: 'x' })`,
    "Failed to construct 'Request': The provided value 'x' is not a valid enum value of type RequestRedirect",
  ],
  [
    `new Request('http://a', { signal: 1 })`,
    "Failed to construct 'Request': 'signal' of 'RequestInit' (Argument 2) is not of type AbortSignal",
  ],
  [
    `new Request('http://a', { window: {} })`,
    "Failed to construct 'Request': 'window' can only be null",
  ],
  [
    `new Request('http://a', { mode: 'no-cors', method: 'PUT' })`,
    "Failed to construct 'Request': 'PUT' is not for mode 'no-cors'",
  ],
  [`new Response('x', { status: 204 })`, 'Response with null body status cannot have body'],
  [
    `new Response('', { status: 0 })`,
    'The status provided (0) is not equal to 101 and outside the range [200, 599]',
  ],
  [`Response.redirect('http://x', 200)`, 'Invalid redirect status code: 200'],
  [`const r = new Response('x'); r.text(); await r.text()`, 'Body already consumed'],
  [`const r = new Response('x'); r.text(); r.clone()`, 'Body is unusable'],
  [`await fetch('ftp://x')`, "Url scheme 'ftp' not supported"],
  [`atob('*')`, 'Failed to decode base64'],
  [`structuredClone(new Headers())`, 'Cannot clone object of unsupported type.'],
  [`structuredClone(1, { transfer: [{}] })`, 'Value not transferable'],
  [`performance.measure('a', 'zz')`, 'Cannot find mark: "zz"'],
  [
    `AbortSignal.timeout(-1)`,
    "Failed to execute 'AbortSignal.timeout': Argument 1 is outside the accepted range of 0 to 9007199254740991, inclusive",
  ],
]

describe('events, messages and marks of a guest', () => {
  let guest: Guest

  beforeAll(async () => {
    guest = await Guest.open()
  })
  afterAll(() => guest[Symbol.dispose]())

  test.each(Object.entries(AS_NODE))('%s: as in Node', async (_name, body) => {
    const source = `try { return { value: await (async () => {${body}})() } } catch (error) { return { threw: String(error) } }`
    const ours = await guest.run(source)
    expect(ours).toEqual(await runOnNode(source))
    expect(ours).toHaveProperty('value')
  })

  test.each(ASKED)('%s', async (_name, body, answer) => {
    expect(await guest.run(body)).toEqual(answer)
  })

  test.each(REFUSED)('%s is refused in the words of Deno', async (code, message) => {
    expect(await guest.run(`try { ${code} } catch (e) { return e.message }`)).toBe(message)
  })

  test('keeps what a request is asked to be', async () => {
    const body = `const r = new Request('http://a/', { priority: 'high', referrer: 'http://b', cache: 'only-if-cached', mode: 'same-origin' }); const c = new Request(r.clone()); return [c.priority, c.referrer, c.cache, c.mode, new Request('http://a/').referrer, new Request('http://a/', { referrer: '' }).referrer]`
    expect(await guest.run(body)).toEqual([
      'high',
      'http://b/',
      'only-if-cached',
      'same-origin',
      'about:client',
      '',
    ])
  })

  test('reads a record of headers name by name, and iterates as WebIDL says', async () => {
    const body = `const log = []; const init = new Proxy({ b: '1', a: '2' }, { ownKeys: (t) => (log.push('keys'), Reflect.ownKeys(t)), getOwnPropertyDescriptor: (t, k) => (log.push('own ' + k), Reflect.getOwnPropertyDescriptor(t, k)), get: (t, k) => (log.push('get ' + String(k)), t[k]) }); const h = new Headers(init); const i = h.keys(); return [log, [...i], Object.prototype.toString.call(i), Object.getPrototypeOf(i).constructor === Iterator, (() => { try { new Headers({ [Symbol('x')]: '1' }) } catch (e) { return e.name } })()]`
    expect(await guest.run(body)).toEqual([
      ['get Symbol(Symbol.iterator)', 'keys', 'own b', 'get b', 'own a', 'get a'],
      ['a', 'b'],
      '[object Headers Iterator]',
      true,
      'TypeError',
    ])
  })

  test('leaves a body that was read in the hands of its reader', async () => {
    const body = `const r = new Response('x'); await r.text(); try { r.body.getReader() } catch (e) { return [e.name, r.bodyUsed] }`
    expect(await guest.run(body)).toEqual(['TypeError', true])
  })

  test('logs an error that no listener took, and none that one did', async () => {
    guest.lines.length = 0
    await guest.run(
      `reportError('logged'); addEventListener('error', (e) => e.preventDefault(), { once: true }); reportError('taken')`,
    )
    expect(guest.lines.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Uncaught .logged.$/),
    ])
  })

  test('works when the site has broken the built-ins', async () => {
    using broken = await Guest.open()
    const body = `
      const list = [1]; const map = new Map([[1, { a: 1 }]])
      for (const C of [Array, Set]) for (const k of ['push', 'map', 'filter', 'forEach', 'get', 'set', 'has', 'add', 'includes', 'toSorted']) C.prototype[k] = () => { throw new Error('hijacked') }
      Array.prototype[Symbol.iterator] = () => { throw new Error('hijacked') }
      const { port1, port2 } = new MessageChannel()
      const got = new Promise((r) => { port2.onmessage = (e) => r(e.data) })
      port1.postMessage({ list, map, when: new Date(1) })
      const m = performance.mark('a')
      const c = new AbortController(); c.abort()
      const { when } = await got
      return when.getTime() + m.name + c.signal.aborted + performance.getEntriesByName('a').length`
    expect(await broken.run(body)).toBe('1atrue1')
  })
})
