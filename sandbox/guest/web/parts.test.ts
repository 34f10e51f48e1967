import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'

const MATCH = `new URLPattern({ pathname: '/a/:b' }).exec('http://a.test/a/c').pathname.groups.b`

/** Bodies of functions about URLPattern, with what the standard has for them. */
const PATTERNS: Readonly<Record<string, readonly [body: string, answer: unknown]>> = {
  'a number for a port': [`return new URLPattern({ port: 8080 }).test({ port: '8080' })`, true],
  'a port with something after it': [
    `const found = new URLPattern({ port: '80' }).exec({ port: '80x' }); return [found.port.input, found.inputs]`,
    ['80', [{ port: '80x' }]],
  ],
  'a host that ends where a URL says': [
    `return ['bad#host', 'bad/host', 'ba\\td'].map((hostname) => new URLPattern({ hostname }).hostname)`,
    ['bad', 'bad', 'bad'],
  ],
  'sets in a group': [
    `const p = new URLPattern({ pathname: '/([[a-z]--a])' }); return [p.test({ pathname: '/b' }), p.test({ pathname: '/a' }), p.hasRegExpGroups]`,
    [true, false, true],
  ],
  'a base beside a text': [
    `const p = new URLPattern('/a/:b?', 'https://c.test'); return [p.hostname, p.exec('/a', 'https://c.test').pathname.groups, p.exec('/x', 'https://c.test')]`,
    ['c.test', {}, null],
  ],
  'letters of any case where asked': [
    `return [{ ignoreCase: true }, undefined].map((options) => new URLPattern({ pathname: '/A' }, options).test({ pathname: '/a' }))`,
    [true, false],
  ],
  'no pattern': [
    `return [[{ pathname: '(' }], ['/x'], [{}, 'https://a.test'], [null]].map((args) => { try { new URLPattern(...args); return 'made' } catch (error) { return error.name } })`,
    ['TypeError', 'TypeError', 'TypeError', 'TypeError'],
  ],
}

describe('a part of the platform', () => {
  let guest: Guest

  beforeEach(async () => {
    guest = await Guest.open()
  })
  afterEach(() => guest[Symbol.dispose]())

  test('is not in the context until it is needed, and then there once', async () => {
    expect(guest.loadedParts).toEqual([])
    expect(
      await guest.run(`
        const found = Object.getOwnPropertyDescriptor(globalThis, 'URLPattern')
        return [typeof URLPattern, 'URLPattern' in globalThis, 'value' in found, found.enumerable, URLPattern.name,
          Object.getOwnPropertyNames(URLPattern.prototype).includes('exec')]`),
    ).toEqual(['function', true, true, false, 'URLPattern', true])
    expect(guest.loadedParts).toEqual([])
    expect(await guest.run(`return [${MATCH}, ${MATCH}]`)).toEqual(['c', 'c'])
    expect(guest.loadedParts).toEqual(['urlpattern'])
  })

  test('has the platform as it was before site code changed it', async () => {
    const body = `
      globalThis.URL = null
      return ${MATCH}`
    expect(await guest.run(body)).toBe('c')
  })

  test('shows site code nothing of the prelude, whichever built-ins watch it load', async () => {
    const body = `
      const seen = []
      const { apply } = Reflect
      const watch = (owner, names) => {
        for (const name of names) {
          const { value } = Object.getOwnPropertyDescriptor(owner, name)
          if (name === 'constructor' || typeof value !== 'function') continue
          owner[name] = function (...args) {
            seen[seen.length] = this
            for (let at = 0; at < args.length; at += 1) seen[seen.length] = args[at]
            return apply(value, this, args)
          }
        }
      }
      for (const owner of [Object, Array.prototype, String.prototype, Function.prototype, RegExp.prototype, Map.prototype])
        watch(owner, Reflect.ownKeys(owner))
      ${MATCH}
      return [seen.length > 0, seen.filter((item) => item && typeof item === 'object' && ('print' in item || 'host.ts' in item || 'host' in item)).length]`
    expect(await guest.run(body)).toEqual([true, 0])
  })

  test.each(Object.entries(PATTERNS))('knows of URLs: %s', async (_name, [body, answer]) => {
    expect(await guest.run(body)).toEqual(answer)
  })
})
