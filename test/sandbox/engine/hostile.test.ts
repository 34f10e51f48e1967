import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { CallOutcome } from '#platform/sandbox-host/sandbox.ts'
import { LOAD_CPU_MS } from '#sandbox/protocol/protocol.ts'
import { LIMITS, type ProgramOptions, TestSandbox } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const limit = (what: string, value: number) => ({
  kind: 'limit',
  what,
  limit: value,
  used: expect.any(Number),
})
const thrown = (message: string, more: object = {}) => ({
  kind: 'thrown',
  message,
  stack: expect.any(String),
  ...more,
})
const CPU = limit('cpuMs', LIMITS.cpuMs)
const LOAD_CPU = limit('cpuMs', LOAD_CPU_MS)
const MAX_TRIES = 5
const WALL: ProgramOptions = { fn: { timeoutMs: 300 } }

type Ending = readonly [what: string, code: string, failure: object, options?: ProgramOptions]

const ENDINGS: readonly Ending[] = [
  ['an infinite loop', 'export default () => { for (;;); }', CPU],
  ['an infinite loop after an await', 'export default async () => { await 0; for (;;); }', CPU],
  ['an endless row of awaits', 'export default async () => { for (;;) await 0 }', CPU],
  [
    'promises that make promises',
    'const go = () => Promise.resolve().then(go); export default go',
    CPU,
    // They fill 64 MB in some 0.3 s.
    { fn: { memoryMb: 512 } },
  ],
  ['a toJSON that never returns', 'export default () => ({ toJSON() { for (;;); } })', CPU],
  ['a getter that never returns', 'export default () => ({ get a() { for (;;); } })', CPU],
  ['a thenable that never returns', 'export default () => ({ then() { for (;;); } })', CPU],
  [
    'an error whose message never ends',
    'export default () => { throw { get message() { for (;;); } } }',
    CPU,
  ],
  ['a catastrophic pattern', 'export default () => /^(a+)+$/.test("a".repeat(40) + "b")', CPU],
  ['an infinite loop at the top level', 'for (;;); export default () => 1', LOAD_CPU],
  [
    'an infinite loop in a timer',
    'export default () => new Promise(() => setTimeout(() => { for (;;); }, 5))',
    CPU,
  ],
  [
    'random values without end',
    'const to = new Uint8Array(65536); export default () => { for (;;) crypto.getRandomValues(to) }',
    CPU,
  ],
  [
    'digests without end',
    'const of = new Uint8Array(1e6); export default () => { for (;;) crypto.subtle.digest("SHA-512", of) }',
    CPU,
  ],
  [
    'a row of signatures without end',
    `export default async () => {
      const key = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-521" }, false, ["sign"])
      for (;;) await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-1" }, key.privateKey, new Uint8Array(1))
    }`,
    CPU,
  ],
  [
    'digests without end at the top level',
    'const of = new Uint8Array(1e6); for (;;) await crypto.subtle.digest("SHA-512", of); export default () => 1',
    LOAD_CPU,
  ],
  [
    'a derivation that takes too long',
    `export default async () => {
      const key = await crypto.subtle.importKey("raw", new Uint8Array(8), "PBKDF2", false, ["deriveBits"])
      const how = { name: "PBKDF2", hash: "SHA-512", salt: new Uint8Array(8), iterations: 1_000_000 }
      return (await crypto.subtle.deriveBits(how, key, 512)).byteLength
    }`,
    CPU,
    { fn: { timeoutMs: 20_000 } },
  ],
  [
    'a promise that never settles',
    'export default () => new Promise(() => {})',
    limit('timeoutMs', 300),
    WALL,
  ],
  [
    'a top-level await that never settles',
    'await new Promise(() => {}); export default () => 1',
    {
      kind: 'invalidCode',
      fault: { message: expect.stringContaining('never settles'), path: 'main.js' },
    },
  ],
  [
    'an array that grows without end',
    'export default () => { const all = []; for (;;) all.push(new Array(10_000).fill(7)) }',
    limit('memoryMb', 64),
    { limits: { cpuMs: 5000 } },
  ],
  [
    'a result that is too large',
    'export default () => "x".repeat(100_000)',
    { ...limit('resultBytes', LIMITS.resultBytes), used: 100_002 },
  ],
  [
    'a result that is too large in UTF-8 only',
    'export default () => "€".repeat(30_000)',
    { ...limit('resultBytes', LIMITS.resultBytes), used: 90_002 },
  ],
  [
    'a cycle',
    'export default () => { const a = {}; a.a = a; return a }',
    { kind: 'invalidResult', message: expect.stringContaining('circular') },
  ],
  [
    'a BigInt',
    'export default () => 1n',
    { kind: 'invalidResult', message: expect.stringContaining('BigInt') },
  ],
  [
    'a function',
    'export default () => () => 1',
    { kind: 'invalidResult', message: expect.stringContaining('function') },
  ],
  [
    'a toJSON that throws',
    'export default () => ({ toJSON() { throw new Error("no") } })',
    { kind: 'invalidResult', message: expect.stringContaining('no') },
  ],
  ['a thrown number', 'export default () => { throw 42 }', thrown('42')],
  ['a thrown null', 'export default async () => { throw null }', thrown('null')],
  ['a thrown undefined', 'export default () => Promise.reject()', thrown('undefined')],
  ['a thrown symbol', 'export default () => { throw Symbol("s") }', thrown('Symbol(s)')],
  [
    'a thrown error',
    'export default () => {\n throw new TypeError("bad") }',
    thrown('bad', { stack: expect.stringContaining('main.js:2') }),
  ],
  [
    'a thrown refusal',
    'export default () => { throw { statusCode: 404, code: "NoSuchThing", message: "gone" } }',
    thrown('gone', { statusCode: 404, code: 'NoSuchThing' }),
  ],
  [
    'a thrown error that cannot be read',
    'export default () => { throw new Proxy({}, { get() { throw 1 } }) }',
    thrown('A value that cannot be read was thrown'),
  ],
  [
    'endless recursion',
    'const go = () => go() + 1; export default go',
    thrown('Maximum call stack size exceeded'),
  ],
  [
    'a syntax error',
    'export default () => {\n const = 1 }',
    {
      kind: 'invalidCode',
      fault: { message: expect.any(String), path: 'main.js', line: 2, column: 8, isSyntax: true },
    },
  ],
  [
    'a throw at the top level',
    '\nthrow new Error("boom")',
    { kind: 'invalidCode', fault: { message: 'boom', path: 'main.js', line: 2, column: 7 } },
  ],
  [
    'a late throw at the top level',
    'await new Promise((go) => setTimeout(go, 5)); throw new Error("boom")',
    { kind: 'invalidCode', fault: { message: 'boom', path: 'main.js', line: 1, column: 53 } },
  ],
  [
    'a missing handler',
    'export const other = 1',
    {
      kind: 'invalidCode',
      fault: {
        message: expect.stringContaining('"main.js" has no handler "default"'),
        path: 'main.js',
      },
    },
  ],
  [
    'a resizable buffer bomb',
    'export default () => new ArrayBuffer(8, { maxByteLength: 2 ** 32 }).resizable || (() => { throw new Error("fixed") })()',
    thrown('fixed'),
  ],
]

/** Runs code until there is a verdict: on a busy machine a stretch may get too little of a processor for one, and is to be tried again. */
async function judged(code: string, options: ProgramOptions): Promise<CallOutcome> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await sandbox.run(code, options)
    if (outcome.ok || outcome.failure.kind !== 'interrupted' || tries === MAX_TRIES) return outcome
  }
}

describe('a site whose function is', () => {
  test.each(
    ENDINGS.map(([what, code, failure, options = {}]) => ({ what, code, failure, options })),
  )('$what ends by its own failure', async ({ code, failure, options }) => {
    const { result, others } = await sandbox.beside(() => judged(code, options))
    expect(result).toMatchObject({ ok: false, failure, cpuUs: expect.any(Number) })
    expect(others.filter((other) => !other.ok)).toEqual([])
  })

  test('a Map that aborts the process ends by its memory limit, twice', async () => {
    const code =
      'const m = new Map(); export default () => { for (let i = 0; ; i++) m.set(i, { i }) }'
    const program = sandbox.program(code, { limits: { cpuMs: 20_000 } })
    const { result, others } = await sandbox.beside(async () => [
      await sandbox.call(program),
      await sandbox.call(program),
    ])
    for (const outcome of result) expect(outcome).toMatchObject({ failure: limit('memoryMb', 64) })
    expect(others.filter((other) => !other.ok)).toEqual([])
    expect(
      sandbox.hosts.status().hosts.reduce((sum, host) => sum + host.restarts, 0),
    ).toBeGreaterThan(0)
  })

  test('arithmetic that V8 cannot stop ends when its process is killed', async () => {
    const code = 'export default () => { let x = 3n; for (;;) x = x * x }'
    const { result, others } = await sandbox.beside(() => sandbox.run(code))
    expect(result).toMatchObject({
      failure: { kind: 'limit', what: expect.stringMatching(/cpuMs|memoryMb/) },
    })
    expect(others.filter((other) => !other.ok)).toEqual([])
  })

  test('a long operation that outlives its call holds up nothing but the next one of its site', async () => {
    const program = sandbox.program(
      `export default async ({ payload }) => {
        const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits'])
        const derive = (iterations) =>
          crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations }, key, 512)
        if (payload !== 'leave') return (await derive(6_000)).byteLength
        void derive(60_000)
        return 'left'
      }`,
      { limits: { cpuMs: 20_000 }, fn: { timeoutMs: 20_000 } },
    )
    expect(await sandbox.call(program, 'leave')).toMatchObject({ ok: true, result: '"left"' })
    const { result, others } = await sandbox.beside(() => sandbox.call(program, 'wait'))
    expect(result).toMatchObject({ ok: true, result: '64' })
    expect(others.filter((other) => !other.ok)).toEqual([])
  })

  test('a long operation whose isolate is given up leaves its site as it was', async () => {
    const program = sandbox.program(
      `export default async ({ payload }) => {
        if (payload === 'spin') for (;;);
        const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits'])
        const how = { name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(8), iterations: payload }
        return (await crypto.subtle.deriveBits(how, key, 256)).byteLength
      }`,
      { fn: { timeoutMs: 20_000 } },
    )
    const deriving = sandbox.call(program, 200_000)
    expect(await sandbox.call(program, 'spin')).toMatchObject({ failure: CPU })
    const left = await deriving
    expect(left.ok || left.failure.kind).toBeOneOf([true, 'interrupted'])
    const last = await sandbox.call(program, 30_000)
    expect(last).toEqual({ ok: true, result: '32', cpuUs: expect.any(Number) })
  })

  test('keys that take long to make are made beside the calls of other sites', async () => {
    const make = `export default async () => {
      const how = { name: 'RSA-PSS', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
      const { privateKey, publicKey } = await crypto.subtle.generateKey(how, false, ['sign', 'verify'])
      const signature = await crypto.subtle.sign({ name: 'RSA-PSS', saltLength: 32 }, privateKey, new Uint8Array(3))
      return crypto.subtle.verify({ name: 'RSA-PSS', saltLength: 32 }, publicKey, signature, new Uint8Array(3))
    }`
    const options = { limits: { cpuMs: 20_000 }, fn: { timeoutMs: 30_000 } }
    const { result, others } = await sandbox.beside(() =>
      Promise.all([1, 2, 3].map(() => sandbox.run(make, options))),
    )
    expect(result.map((one) => one.ok && one.result)).toEqual(['true', 'true', 'true'])
    expect(others.filter((other) => !other.ok)).toEqual([])
  })

  test('an unhandled rejection is logged, and its call is answered', async () => {
    const program = sandbox.program(
      'export default () => { Promise.reject(new Error("lost")); return 1 }',
    )
    expect(await sandbox.call(program)).toMatchObject({ ok: true, result: '1' })
    expect(sandbox.linesOf(program)).toMatchObject([
      { level: 'error', message: 'Uncaught: lost', operation: null },
    ])
  })

  test('endless output is cut at the line and at the number of lines, and says so', async () => {
    const program = sandbox.program(
      'export default () => { for (let i = 0; i < 1e4; i++) console.log(i + "y".repeat(500)) }',
    )
    expect(await sandbox.call(program)).toMatchObject({ ok: true })
    const messages = sandbox.linesOf(program).map((line) => line.message)
    expect(messages).toHaveLength(LIMITS.logLines + 1)
    expect(messages[0]).toBe(`0${'y'.repeat(79)}… [line cut]`)
    expect(messages.at(-1)).toBe('[further output dropped: a call may print 5 lines]')
  })

  test('output that never ends stops at the time limit, not at the memory limit', async () => {
    const outcome = await sandbox.run('export default () => { for (;;) console.log("y") }')
    expect(outcome).toMatchObject({ failure: CPU })
  })

  test('one that replaces the built-ins is answered as if it had not', async () => {
    const outcome = await sandbox.run(`
      JSON.stringify = () => '"forged"'; JSON.parse = () => ({ payload: 'forged' })
      Promise.prototype.then = undefined; Array.prototype.push = Array.prototype.join = () => 'forged'
      Map.prototype.get = Map.prototype.set = () => 'forged'
      String.prototype.slice = String.prototype.charCodeAt = String.prototype.indexOf = () => 'forged'
      Function.prototype.call = Function.prototype.apply = () => 'forged'; globalThis.Promise = undefined
      Object.defineProperty(Array.prototype, '0', { set() { throw new Error('hooked') } })
      for (const name of ['toString', 'valueOf', 'constructor', 'hasOwnProperty'])
        Object.defineProperty(Object.prototype, name, { set() { throw new Error('hooked') }, get() { return 'forged' } })
      for (const name of ['id', 'lines', 'left', 'kind', '0', 'next', 'value'])
        if (Reflect.defineProperty(Object.prototype, name, { value: 'forged' })) throw new Error('planted')
      Array.prototype[Symbol.iterator] = undefined
      export default async ({ payload, requestId }) => { await 0; return { got: payload, requestId } }
    `)
    expect(outcome).toMatchObject({ ok: true, result: expect.stringContaining('"got":null') })
  })

  test('one that merges carelessly cannot give a visitor what another one sent', async () => {
    const program = sandbox.program(`
      const merge = (into, from) => {
        for (const key of Object.keys(from)) {
          if (typeof from[key] === 'object') merge(into[key] ??= {}, from[key])
          else into[key] = from[key]
        }
        return into
      }
      export default ({ payload }) => ({ admin: merge({}, payload).admin === true })
    `)
    const attack = (payload: string) => sandbox.raw(program, `{"payload":${payload}}`)
    for (const payload of [
      '{"__proto__":{"admin":true}}',
      '{"constructor":{"prototype":{"admin":true}}}',
    ]) {
      expect(await attack(payload)).toMatchObject({
        failure: { kind: 'thrown', message: expect.stringContaining('not extensible') },
      })
      expect(await attack('{"name":"Ada"}')).toMatchObject({ ok: true, result: '{"admin":false}' })
    }
  })

  test('one that overrides what objects inherit goes on working', async () => {
    const outcome = await sandbox.run(`
      function Old() {}
      Old.prototype.toString = () => 'old'
      class New { toString() { return 'new' } }
      const plain = {}
      plain.toString = () => 'plain'
      export default () => [new Old(), new New(), plain].map(String)
    `)
    expect(outcome).toMatchObject({ ok: true, result: '["old","new","plain"]' })
  })

  test('one that looks for a way out finds no trace of the host', async () => {
    const outcome = await sandbox.run(`
      export default (input, ctx) => {
        const seen = new Set(), found = []
        const walk = (value, path) => {
          if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return
          seen.add(value)
          for (const key of Reflect.ownKeys(value)) {
            if (/croft|isolate|ivm|applySync/i.test(String(key))) found.push(path + '.' + String(key))
            try { walk(Object.getOwnPropertyDescriptor(value, key).value, path + '.' + String(key)) } catch {}
          }
          try { walk(Object.getPrototypeOf(value), path + '.__proto__') } catch {}
        }
        walk(globalThis, 'globalThis'); walk(input, 'input'); walk(ctx, 'ctx')
        return { found, gone: [typeof SharedArrayBuffer, typeof Atomics, typeof WebAssembly, typeof process, typeof require, typeof gc] }
      }
    `)
    expect(outcome).toMatchObject({
      ok: true,
      result: JSON.stringify({ found: [], gone: Array.from({ length: 6 }, () => 'undefined') }),
    })
  })

  test('one that hits a limit leaves the other calls of its site retryable and starts afresh', async () => {
    const code = `let calls = 0
      export default async ({ payload }) => {
        calls += 1
        if (payload === 'spin') for (;;);
        if (payload === 'wait') await new Promise(() => {})
        return calls
      }`
    // On a busy machine the second call may be given to another host than the first.
    const spinBesideWaiting = async () => {
      const program = sandbox.program(code, { fn: { timeoutMs: 3000 } })
      const waiting = sandbox.call(program, 'wait')
      expect(await sandbox.call(program, 'spin')).toMatchObject({ failure: CPU })
      const left = await waiting
      return !left.ok && left.failure.kind === 'interrupted' && program
    }
    const program = await vi.waitUntil(spinBesideWaiting, 60_000)
    expect(await sandbox.call(program, 'count')).toMatchObject({ result: '1' })
  })
})
