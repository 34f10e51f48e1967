import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'

const LINE_BOUND = 70_000

/** Values that a console has to survive, as source. */
const HOSTILE: Readonly<Record<string, string>> = {
  'a proxy whose every trap throws': `new Proxy({}, new Proxy({}, { get() { throw new Error('trap') } }))`,
  'a proxy of a function that throws': `new Proxy(function () {}, { get() { throw 1 }, getOwnPropertyDescriptor() { throw 2 }, ownKeys() { throw 3 }, getPrototypeOf() { throw 4 } })`,
  'a revoked proxy': `(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()`,
  'a proxy with endless prototypes': `(() => { const p = new Proxy({}, { getPrototypeOf() { return p } }); return p })()`,
  'a proxy with a million keys': `new Proxy({}, { ownKeys() { return Array.from({ length: 1e5 }, (_, i) => 'k' + i) }, getOwnPropertyDescriptor() { return { value: 'x'.repeat(1000), enumerable: true, configurable: true } } })`,
  'a getter that throws': `{ get a() { throw new Error('got') } }`,
  'an error whose parts throw': `(() => { const e = new Error('x'); for (const k of ['name', 'message', 'stack', 'cause']) Object.defineProperty(e, k, { get() { throw 1 } }); return e })()`,
  'an error with an endless cause': `(() => { const e = new Error('x'); e.cause = e; return e })()`,
  'an error with a huge stack': `Object.assign(new Error('x'), { stack: 'y'.repeat(5e6) })`,
  'a tag that throws': `{ get [Symbol.toStringTag]() { throw 1 } }`,
  'made-up tags': `['Map', 'Set', 'Date', 'RegExp', 'ArrayBuffer', 'DataView', 'Number', 'Symbol', 'Error', 'Uint8Array'].map((t) => ({ [Symbol.toStringTag]: t }))`,
  'a custom inspector that throws': `{ [Symbol.for('nodejs.util.inspect.custom')]() { throw 1 } }`,
  'a custom inspector without end': `(() => { const o = { [Symbol.for('nodejs.util.inspect.custom')]() { return { [Symbol.for('nodejs.util.inspect.custom')]: this[Symbol.for('nodejs.util.inspect.custom')] } } }; return o })()`,
  'options that throw': `Object.defineProperty({}, Symbol.for('Deno.customInspect'), { value(i) { return i({ a: 1 }, new Proxy({}, { get() { throw 1 } })) } })`,
  'a custom inspector of Deno without end': `(() => { const o = { [Symbol.for('Deno.customInspect')](inspect, options) { return inspect(o, options) } }; return o })()`,
  'a custom inspector that returns no text': `{ [Symbol.for('Deno.customInspect')]() { return Object.create(null) } }`,
  'an iterable with endless items': `{ [Symbol.iterator]() { return { next: () => ({ done: false, value: 1 }) } } }`,
  'a string of 10 MB': `'x'.repeat(1e7)`,
  'a string of 10 MB inside': `{ a: ['x'.repeat(1e7)] }`,
  'a deep list': `(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a })()`,
  'a wide object': `Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ['key' + i, { i }]))`,
  'a long list': `Array.from({ length: 1e6 }, (_, i) => i)`,
  'a sparse list': `(() => { const a = []; a[4294967294] = 1; return a })()`,
  'a long typed array': `new Uint8Array(1e7)`,
  'a tree that doubles': `(() => { let t = { leaf: 'x'.repeat(100) }; for (let i = 0; i < 30; i++) t = { a: t, b: t, c: t, d: t, e: t, f: t, g: t, h: t }; return t })()`,
  'a class whose name throws': `(() => { class A {} Object.defineProperty(A, 'name', { get() { throw 1 } }); return [new A(), A] })()`,
  'an object that refuses to be text': `{ toString() { throw 1 }, valueOf() { throw 2 }, toJSON() { throw 3 } }`,
  'a format with hostile arguments': `'%s %d %i %f %j %o %O', { get [Symbol.toPrimitive]() { throw 1 } }, Symbol('x'), { valueOf() { throw 1 } }, Object.create(null), { toJSON() { throw 1 } }, 1, 2`,
  'a million directives': `'%s'.repeat(1e5), 1`,
}

/** What a site may do to the built-ins before it uses the platform. */
const HIJACKS: Readonly<Record<string, string>> = {
  'Array.prototype': `for (const k of ['push', 'map', 'join', 'slice', 'forEach', 'filter', 'concat', 'includes', 'indexOf', Symbol.iterator]) Array.prototype[k] = () => { throw new Error('hijacked') }`,
  'Promise.prototype.then': `Promise.prototype.then = Promise.prototype.catch = Promise.prototype.finally = () => { throw new Error('hijacked') }`,
  JSON: `JSON.parse = JSON.stringify = () => { throw new Error('hijacked') }; globalThis.JSON = null`,
  toJSON: `String.prototype.toJSON = Array.prototype.toJSON = Object.prototype.toJSON = () => { throw new Error('hijacked') }`,
  'String.prototype': `for (const k of ['slice', 'indexOf', 'toLowerCase', 'charCodeAt', 'startsWith', 'replace', 'split', 'trim']) String.prototype[k] = () => { throw new Error('hijacked') }`,
  RegExp: `RegExp.prototype.exec = RegExp.prototype.test = () => { throw new Error('hijacked') }; RegExp.prototype[Symbol.replace] = RegExp.prototype.exec`,
  'Object and Reflect': `for (const k of ['keys', 'entries', 'defineProperty', 'getPrototypeOf', 'fromEntries']) Object[k] = () => { throw new Error('hijacked') }; for (const k of ['apply', 'get', 'ownKeys']) Reflect[k] = Object.keys`,
  'Map, Set and WeakMap': `for (const C of [Map, Set, WeakMap]) for (const k of ['get', 'set', 'has', 'add', 'forEach']) C.prototype[k] = () => { throw new Error('hijacked') }`,
  'the platform itself': `globalThis.Headers = globalThis.Response = globalThis.TextEncoder = globalThis.URL = globalThis.Request = null`,
  'Function.prototype': `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error('hijacked') }`,
}

const FETCH_AND_PRINT = `
  const response = await fetch('http://a.test/p?q=1', { method: 'POST', headers: { x: 'y' }, body: 'sent é' })
  console.log('got', response.status, await response.text())
  console.error({ a: [1, 'two', map], e: 5 })
  return response.headers.get('x-answer')`

describe('under hostile site code', () => {
  const asked: unknown[] = []
  let guest: Guest

  beforeEach(async () => {
    asked.length = 0
    guest = await Guest.open({
      answer: async (_name, argument) => {
        asked.push(JSON.parse(argument))
        return JSON.stringify({
          status: 201,
          statusText: 'Created',
          url: 'http://a.test/p?q=1',
          redirected: false,
          headers: [['X-Answer', 'yes']],
          bodyBase64: Buffer.from('answer é').toString('base64'),
        })
      },
    })
  })

  afterEach(() => guest[Symbol.dispose]())

  test.each(Object.entries(HOSTILE))('the console survives %s', async (_name, source) => {
    await guest.run(`console.log(${source}); console.dir(${source}); console.table(${source})`)
    expect(guest.lines.length).toBeGreaterThanOrEqual(3)
    for (const { text } of guest.lines) expect(text.length).toBeLessThan(LINE_BOUND)
  })

  test.each(Object.entries(HIJACKS))('fetch and the console outlive %s', async (_name, hijack) => {
    expect(await guest.run(`const map = new Map([[1, 2]]);${hijack};${FETCH_AND_PRINT}`)).toBe(
      'yes',
    )
    expect(asked).toEqual([
      {
        method: 'POST',
        url: 'http://a.test/p?q=1',
        headers: [
          ['x', 'y'],
          ['content-type', 'text/plain;charset=UTF-8'],
        ],
        bodyBase64: Buffer.from('sent é').toString('base64'),
        redirect: 'follow',
      },
    ])
    expect(guest.lines).toEqual([
      { level: 'info', text: 'got 201 answer é' },
      { level: 'error', text: '{ a: [ 1, "two", Map(1) { 1 => 2 } ], e: 5 }' },
    ])
  })

  test('a refusal of the host is a TypeError with its message', async () => {
    using refused = await Guest.open({
      answer: async () => {
        throw new Error('The host "b.test" is not on the list of this site')
      },
    })
    const thrown = await refused.run(
      `try { await fetch('http://b.test/') } catch (e) { return [e instanceof TypeError, e.message] }`,
    )
    expect(thrown).toEqual([true, 'The host "b.test" is not on the list of this site'])
  })

  test.each(['', 'null', '{}', '{"status":200}', '{"status":200,"headers":[],"bodyBase64":"*"}'])(
    'an answer of the host that is not one is an error: %s',
    async (answer) => {
      using odd = await Guest.open({ answer: async () => answer })
      expect(
        await odd.run(
          `try { await fetch('http://a.test/') } catch (e) { return e instanceof Error }`,
        ),
      ).toBe(true)
    },
  )

  test('no internal of a class is reachable from it', async () => {
    const found = await guest.run(`
      const names = []
      for (const C of [AbortSignal, Blob, CryptoKey, DOMException, Event, EventTarget, File, FormData, Headers, Request, Response])
        names.push([C.name, Object.getOwnPropertyNames(C).filter((k) => !['length', 'name', 'prototype'].includes(k) && !/^[A-Z_]+$/.test(k))])
      return names`)
    expect(found).toEqual([
      ['AbortSignal', ['abort', 'timeout', 'any']],
      ['Blob', []],
      ['CryptoKey', []],
      ['DOMException', []],
      ['Event', []],
      ['EventTarget', []],
      ['File', []],
      ['FormData', []],
      ['Headers', []],
      ['Request', []],
      ['Response', ['error', 'json', 'redirect']],
    ])
  })
})
