import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'

describe('built-ins that V8 lacks', () => {
  let guest: Guest
  beforeAll(async () => {
    guest = await Guest.open()
  })
  afterAll(() => guest[Symbol.dispose]())

  /** What Deno 2.9 gives for the same. */
  test.each<[string, unknown]>([
    [`[...Uint8Array.fromBase64('8J+YgA==')]`, [240, 159, 152, 128]],
    [`[...Uint8Array.fromBase64('8J-YgA', { alphabet: 'base64url' })]`, [240, 159, 152, 128]],
    [`Uint8Array.of(251, 255).toBase64()`, '+/8='],
    [`Uint8Array.of(251, 255).toBase64({ alphabet: 'base64url', omitPadding: true })`, '-_8'],
    [`[...Uint8Array.fromHex('00ff7F')]`, [0, 255, 127]],
    [`Uint8Array.of(0, 255, 127).toHex()`, '00ff7f'],
    [
      `[new Uint8Array(3).setFromBase64('AQID'), new Uint8Array(1).setFromHex('ff')]`,
      [
        { read: 4, written: 3 },
        { read: 2, written: 1 },
      ],
    ],
    [`Math.sumPrecise([1e20, 0.1, -1e20])`, 0.1],
    [`[Math.sumPrecise([0.1, 0.2, 0.3]), Object.is(Math.sumPrecise([]), -0)]`, [0.6, true]],
    [`[...Iterator.concat([1], new Set([2]), [3])]`, [1, 2, 3]],
    [
      `(() => { const m = new Map(); return [m.getOrInsert('a', 1), m.getOrInsert('a', 2), m.getOrInsertComputed('b', (key) => key + '!')] })()`,
      [1, 1, 'b!'],
    ],
    [
      `(() => { const [m, k] = [new WeakMap(), {}]; return [m.getOrInsert(k, 1), m.getOrInsertComputed(k, () => 2)] })()`,
      [1, 1],
    ],
    [
      `[() => Uint8Array.fromBase64('*'), () => Uint8Array.fromHex('0'), () => Math.sumPrecise([1n]), () => Uint8Array.prototype.toHex.call([])].map((f) => { try { return f() } catch (e) { return e.name } })`,
      ['SyntaxError', 'SyntaxError', 'TypeError', 'TypeError'],
    ],
    [
      `[Uint8Array.fromBase64, Uint8Array.prototype.toHex, Math.sumPrecise].map((f) => [f.name, f.length])`,
      [
        ['fromBase64', 1],
        ['toHex', 0],
        ['sumPrecise', 1],
      ],
    ],
    [`Object.keys(globalThis).filter((name) => name.includes('core'))`, []],
  ])('are there: %s', async (expression, expected) => {
    expect(await guest.run(`return ${expression}`)).toEqual(expected)
  })
})
