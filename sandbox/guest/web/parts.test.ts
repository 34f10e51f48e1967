import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'

const MATCH = `new URLPattern({ pathname: '/a/:b' }).exec('http://a.test/a/c').pathname.groups.b`

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
})
