import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { denoMissing, runInDeno } from '#sandbox/guest/testing/deno.ts'
import { Guest } from '#sandbox/guest/testing/guest.ts'

/** Arguments of console.log, as source. */
const SHOWN_AS_IN_DENO: readonly string[] = [
  `'plain', 1, true, null, undefined, -0, 10n, Symbol('s')`,
  `'%s is %d, %i, %f %% %j %O%c!', 'it', '42.5', '42.5', '1.5', { a: 1 }, { b: 2 }, 'css'`,
  `'%s %s', 'one'`,
  `'%s', { a: { b: { c: 1 } } }`,
  `'%d %i %f', 10n, Symbol('q'), {}`,
  `'100%', 5`,
  `'%x %s', 'a'`,
  `5, '%s', 'x'`,
  `''`,
  `{ a: 1, 'b-c': 'two', 3: [4], [Symbol('k')]: null, f() {}, g: () => {}, h: class A {}, i: class extends Array {} }`,
  `[1, 'a', [2, [3, [4, [5, [6, [7]]]]]]]`,
  `{ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }`,
  `new Map([['k', { v: 1 }], [{ o: 1 }, new Set([1, 'x'])]])`,
  `new Set(), new Map(), [], {}, [[]], [{}]`,
  `[, 1, , , 2, ,]`,
  `Object.assign([1, 2], { x: 'y' })`,
  `Array.from({ length: 120 }, (_, i) => i)`,
  `Array.from({ length: 30 }, (_, i) => 'item ' + i)`,
  `Array.from({ length: 7 }, (_, i) => ({ i }))`,
  `Array.from({ length: 101 }, () => 'x')`,
  `'it\\'s', ['it\\'s', 'say "hi" it\\'s', 'a\\nb\\t\\\\ \\u0001 \\u007f', '\\ud800', '😀']`,
  `['${'long text '.repeat(20)}']`,
  `{ text: 'line one is long enough to break\\nline two is long enough to break\\nline three as well' }`,
  `new Date(0), new Date(NaN), /a+/gi, [new Date(0), /x/]`,
  `new Number(-0), new String('abc'), new Boolean(false), Object(1n), Object(Symbol('b'))`,
  `function named() {}, () => {}, async function a() {}, function* g() {}, async () => {}, class {}, class B extends Object {}, Math.max`,
  `Object.create(null), Object.assign(Object.create(null), { a: 1 })`,
  `new (class Point { x = 1; y = 2 })(), new (class Empty {})()`,
  `new (class Foo { get [Symbol.toStringTag]() { return 'Bar' } })()`,
  `{ get a() { return 1 }, set b(v) {}, get c() { return 1 }, set c(v) {} }`,
  `new Uint8Array(3), new Float64Array([1.5, -0]), new Uint8Array([1, 2, 3]).buffer, new BigInt64Array(1)`,
  `new DataView(new ArrayBuffer(2))`,
  `new WeakMap(), new WeakSet()`,
  `(() => { const o = { name: 'o' }; o.self = o; o.list = [o, { o }]; return o })()`,
  `(() => { const m = new Map(); m.set('m', m); return m })()`,
  `globalThis.Symbol.iterator, JSON, Math`,
  `{ a: 'x'.repeat(60), b: 'y'.repeat(60) }`,
  `{ aaaaaaaaaaaaaaaaaaaa: 1, bbbbbbbbbbbbbbbbbbbb: 2, cccccccccccccccccccc: 3, dddddddddddddddddddd: 4 }`,
  `[{ id: 1, tags: ['a', 'b'], nested: { deep: { deeper: true } } }, { id: 2, tags: [], nested: null }]`,
  `{ custom: { [Symbol.for('nodejs.util.inspect.custom')]() { return 'shown so' } } }`,
  `new Error('no stack', { cause: undefined }).message`,
  `Object.assign(new Error('m'), { stack: 'Error: m\\n    at somewhere (file.js:1:1)' })`,
  `Object.assign(new TypeError('m', { cause: 'why' }), { stack: 'TypeError: m\\n    at somewhere (file.js:1:1)', code: 'E_X' })`,
  `Object.assign(new Error('m'), { stack: 'Error: m' })`,
  `{ error: Object.assign(new RangeError('in'), { stack: 'RangeError: in\\n    at x (y.js:1:2)' }) }`,
  `(() => { class MineError extends Error {} return Object.assign(new MineError('m'), { stack: 'Error: m\\n    at a (b.js:1:1)' }) })()`,
  `Object.assign(new AggregateError([1], 'all'), { stack: 'AggregateError: all\\n    at a (b.js:1:1)' })`,
  `[undefined, null, NaN, Infinity, -1, 1e21, 0.1]`,
  `[1, 22, 333, 4444, 55555, 666666, 7777777, 88888888]`,
  `['a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff', 'ggggggg']`,
  `{ 'a b': 1, valid_1: 2, '1x': 3, 'ünï': 4, '': 5 }`,
  `(function () { return arguments })(1, 2)`,
  `[[[[[[]]]]]], [[[[[[1]]]]]], { a: {} }, { a: { b: { c: { d: { e: {} } } } } }`,
]

const METHODS = `
console.log('log'); console.info('info'); console.warn('warn'); console.error('error'); console.debug('debug')
console.assert(true, 'no'); console.assert(false); console.assert(false, 'because %s', 'x'); console.assert(0, { a: 1 })
console.count(); console.count(); console.count('x'); console.countReset(); console.count(); console.countReset('never')
console.group('G'); console.log('in\\nside'); console.group(); console.log('deeper'); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log('out')
console.dir({ a: { b: { c: 1 } } }); console.dir([1, 2], { iterableLimit: 1 }); console.timeEnd('none'); console.time('t'); console.time('t')
console.table([{ a: 1, b: 'x' }, { a: 2, c: true }]); console.table([{ a: 1, b: 'x' }], ['a']); console.table([1, 'z']); console.table(5)
console.table(new Map([['a', { x: 1 }]])); console.table(new Set([1])); console.table({ r1: [1], r2: { a: { b: {} } } }); console.table(['日本'])
console.log(); console.log(new Headers({ b: '1', a: '2' }), new URLSearchParams('q=1'))`

describe('the console of a guest', () => {
  let guest: Guest

  beforeAll(async () => {
    guest = await Guest.open()
  })

  afterAll(() => guest[Symbol.dispose]())

  beforeEach(() => {
    guest.lines.length = 0
  })

  test.skipIf(denoMissing())('formats as Deno does', async () => {
    const calls = SHOWN_AS_IN_DENO.map((source) => `console.log(${source})`).join('\n')
    await guest.run(calls)
    expect(guest.lines).toEqual(await runInDeno(calls))
  })

  test.skipIf(denoMissing())('has the methods of the standard', async () => {
    await guest.run(METHODS)
    expect(guest.lines).toEqual(await runInDeno(METHODS))
  })

  test('measures time by the host clock', async () => {
    await guest.run(`console.time(); console.timeLog('default', 'so far'); console.timeEnd()`)
    const [log, end] = guest.lines
    expect(log?.text).toMatch(/^default: [\d.]+ms so far$/)
    expect(end?.text).toMatch(/^default: [\d.]+ms$/)
  })

  test('throws what a label throws, and nothing else, and is a namespace', async () => {
    const seen = await guest.run(`
      const label = { toString() { throw new RangeError('no text') } }
      const seen = ['count', 'countReset', 'time', 'timeLog', 'timeEnd', 'log'].map((name) => {
        try { console[name](label); return 'logged' } catch (error) { return error.name }
      })
      const prototype = Object.getPrototypeOf(console)
      return [...seen, Reflect.ownKeys(prototype).length, Object.getPrototypeOf(prototype) === Object.prototype]`)
    expect(seen).toEqual([...Array(5).fill('RangeError'), 'logged', 0, true])
  })

  test('shows where an error was thrown and where a trace was asked for', async () => {
    await guest.run(
      `function here() { console.error(new TypeError('bad')); console.trace('tr') } here()`,
    )
    expect(guest.lines[0]?.text).toMatch(/^TypeError: bad\n {4}at here \(/)
    expect(guest.lines[1]?.text).toMatch(/^Trace: tr\n {4}at here \(/)
  })

  test('leaves its own frames out of stacks', async () => {
    await guest.run(`const mine = () => AbortSignal.abort(); console.log(mine().reason)`)
    const [line] = guest.lines
    expect(line?.text).toMatch(/^AbortError: [^\n]+\n {4}at mine \(/)
    expect(line?.text).not.toContain('croft:prelude')
  })

  test('logs uncaught errors', async () => {
    await guest.run(`
      reportError(new RangeError('lost'))
      queueMicrotask(() => { throw new Error('micro') })
      await new Promise((done) => { setTimeout(() => { setTimeout(done, 5); throw 'timer' }, 0) })
      new EventTarget().dispatchEvent(new Event('x'))
      const t = new EventTarget(); t.addEventListener('x', () => { throw new Error('listener') }); t.dispatchEvent(new Event('x'))`)
    expect(guest.lines.map(({ level, text }) => `${level} ${text.split('\n')[0]}`)).toEqual([
      'error Uncaught RangeError: lost',
      'error Uncaught Error: micro',
      'error Uncaught "timer"',
      'error Uncaught Error: listener',
    ])
  })

  test('lets a listener of the global error event take an error', async () => {
    const seen = await guest.run(`
      const seen = []
      const listen = (event) => { seen.push(event.message, event.error); event.preventDefault() }
      addEventListener('error', listen)
      reportError('mine')
      removeEventListener('error', listen)
      return seen`)
    expect(seen).toEqual(['Uncaught mine', 'mine'])
    expect(guest.lines).toEqual([])
  })
})
