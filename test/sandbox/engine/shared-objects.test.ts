import { build, stop } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Program } from '#platform/sandbox-host/sandbox.ts'
import { TestSandbox } from '#test/test-sandbox.ts'

let sandbox: TestSandbox

beforeAll(async () => {
  sandbox = await TestSandbox.start({}, { cpuMs: 3000 })
})
afterAll(async () => {
  await stop()
  await sandbox[Symbol.asyncDispose]()
})

const valueOf = (outcome: Awaited<ReturnType<TestSandbox['call']>>): unknown => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure))
  return JSON.parse(outcome.result)
}

/** What can be changed of all that is reached from the globals, from syntax and from methods, by path. */
const WALK = `
const changeable = () => {
  const seen = new Set([globalThis])
  const found = new Set()
  const proto = Object.getPrototypeOf
  const made = [function* () {}, async () => {}, async function* () {}, [].values(), new Map().values(),
    new Set().values(), ''[Symbol.iterator](), ''.matchAll(/./g), [].values().map(() => 0),
    Iterator.from({ next() {} }), new Intl.Segmenter().segment(''), new Intl.Segmenter().segment('')[Symbol.iterator]()]
  const queue = []
  for (const name of STANDARD) {
    const { value, writable, configurable } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {}
    if (writable || configurable) found.add('globalThis.' + name)
    queue.push([name, value])
  }
  queue.push(...made.map((value, at) => ['made ' + at, proto(value)]))
  for (let at = 0; at < queue.length; at++) {
    const [path, object] = queue[at]
    if ((typeof object !== 'object' && typeof object !== 'function') || object === null || seen.has(object)) continue
    seen.add(object)
    if (Object.isExtensible(object)) found.add(path)
    queue.push([path + '.[[Prototype]]', proto(object)])
    for (const key of Reflect.ownKeys(object)) {
      const { value, get, set, writable, configurable } = Object.getOwnPropertyDescriptor(object, key)
      if (writable || configurable) found.add(path + '.' + String(key))
      queue.push([path + '.' + String(key), value], [path + '.get ' + String(key), get], [path + '.set ' + String(key), set])
    }
  }
  return { size: seen.size, found: [...found] }
}`

const ATTACKS = {
  'a merge into __proto__': `merge({}, JSON.parse('{"__proto__":{"admin":true}}'))`,
  'a merge into constructor.prototype': `merge({}, JSON.parse('{"constructor":{"prototype":{"admin":true}}}'))`,
  'a merge over what objects inherit': `merge({}, JSON.parse('{"__proto__":{"toString":1}}'))`,
  'a merge into a method': `merge({}, JSON.parse('{"toString":{"call":1}}'))`,
  'a hook of push': `Array.prototype.push = function (item) { stolen = item; return 0 }`,
  'a hook of then': `Promise.prototype.then = () => {}`,
  'a definition on a prototype': `Object.defineProperty(Map.prototype, 'get', { value: () => 'forged' })`,
  'another JSON.parse': `JSON.parse = () => ({ admin: true })`,
  'another Response.json': `Response.prototype.json = async () => ({ admin: true })`,
  'another fetch': `globalThis.fetch = () => {}`,
  'another Promise': `globalThis.Promise = class {}`,
  'a parent for arrays': `Object.setPrototypeOf(Array.prototype, { admin: true })`,
  'a hook of iteration': `Object.getPrototypeOf([].values()).next = () => ({ done: true })`,
  'a method that is gone': `'use strict'; delete String.prototype.slice`,
  'a trap for errors': `Error.captureStackTrace = () => {}`,
}

const CODE = `
const merge = (into, from) => {
  for (const key of Object.keys(from)) {
    if (typeof from[key] === 'object') merge(into[key] ??= {}, from[key])
    else into[key] = from[key]
  }
}
let stolen
const attacks = { ${Object.entries(ATTACKS)
  .map(([name, code]) => `${JSON.stringify(name)}() { ${code} }`)
  .join(',')} }
export default async ({ payload }) => {
  if (payload.attack === undefined) {
    const list = []
    list.push('a')
    return [
      {}.admin ?? null, [].admin ?? null, list, [...'ab'], String({}), Object.prototype.toString.call([]),
      new Map([[1, 2]]).get(1), JSON.parse('{}'), await Response.json(1).json(), 'abc'.slice(1), typeof fetch,
      await Promise.resolve(1).then((value) => value + 1), stolen ?? null,
    ]
  }
  try {
    attacks[payload.attack]()
    return 'done'
  } catch (error) {
    return error.name
  }
}`
const UNTOUCHED = [
  null,
  null,
  ['a'],
  ['a', 'b'],
  '[object Object]',
  '[object Array]',
  2,
  {},
  1,
  'bc',
  'function',
  2,
  null,
]

describe('what calls share beside their modules', () => {
  test('cannot be changed by a call, however it is reached', async () => {
    const names = await sandbox.run(`
      const names = Object.getOwnPropertyNames(globalThis)
      export default () => names.filter((name) => !name.startsWith('__croft') && name !== 'globalThis')`)
    const { size, found } = valueOf(
      await sandbox.run(`const STANDARD = ${JSON.stringify(valueOf(names))}
        ${WALK}
        export default changeable`),
    ) as { size: number; found: string[] }
    expect(size).toBeGreaterThan(1000)
    // `name` is a variable as the site's own globals are.
    expect(found).toEqual(['globalThis.name', 'Error.stackTraceLimit', 'Error.prepareStackTrace'])
  })

  describe('is for the next visitor what it was, after', () => {
    let program: Program
    beforeAll(() => {
      program = sandbox.program(CODE)
    })

    test.each(Object.keys(ATTACKS))('%s', async (attack) => {
      expect(valueOf(await sandbox.call(program, { attack }))).toBe('TypeError')
      expect(valueOf(await sandbox.call(program, {}))).toEqual(UNTOUCHED)
    })
  })

  test('may be extended and replaced while a module loads', async () => {
    const outcome = await sandbox.run(`
      Array.prototype.second = function () { return this[1] }
      String.prototype.shout ??= function () { return this.toUpperCase() + '!' }
      Response.prototype.polite = () => 'please'
      globalThis.fetch = () => 'mine'
      class Patient extends Promise {}
      globalThis.Promise = Patient
      await 0
      Math.half = (value) => value / 2
      export default () => [[1, 2].second(), 'a'.shout(), new Response().polite(), fetch(), Promise === Patient, Math.half(1)]`)
    expect(valueOf(outcome)).toEqual([2, 'A!', 'please', 'mine', true, 0.5])
  })

  test('may be given by core-js all that it has, while a module loads', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `import 'core-js/stable'; export default () => [3, 1].toSorted()`,
        resolveDir: import.meta.dirname,
      },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['main'],
    })
    expect(valueOf(await sandbox.run(outputFiles[0]?.text ?? ''))).toEqual([1, 3])
  })

  test('is inherited by objects that assign the same names', async () => {
    const outcome = await sandbox.run(`
      class Refusal extends Error {
        constructor() { super('no'); this.name = 'Refusal'; this.message = 'never' }
      }
      export default () => {
        function Old() {}
        Old.prototype = Object.create(TypeError.prototype)
        Old.prototype.constructor = Old
        Old.prototype.toString = () => 'old'
        const counts = {}
        for (const word of ['constructor', 'toString', 'a']) counts[word] = 1
        const call = () => {}
        call.toString = () => 'call'
        const limit = Error.stackTraceLimit
        Error.stackTraceLimit = 0
        const { stack } = new Error('short')
        Error.stackTraceLimit = limit
        return [String(new Refusal()), String(new Old()), new Old().constructor === Old, counts, Object.keys(counts), String(call), stack]
      }`)
    expect(valueOf(outcome)).toEqual([
      'Refusal: never',
      'old',
      true,
      { constructor: 1, toString: 1, a: 1 },
      ['constructor', 'toString', 'a'],
      'call',
      'Error: short',
    ])
  })

  test('leaves globals of the site to it, as state of its modules', async () => {
    const program = sandbox.program(
      'export default () => (globalThis.calls = (globalThis.calls ?? 0) + 1)',
    )
    expect(valueOf(await sandbox.call(program))).toBe(1)
    expect(valueOf(await sandbox.call(program))).toBe(2)
  })
})
