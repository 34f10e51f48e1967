import { describe, expect, test } from 'vitest'

import type { BackupPlace } from './backup-place.ts'
import { lockPlace } from './place-lock.ts'

/** A place in memory. */
function placeOf(files: Map<string, Buffer>): BackupPlace {
  return {
    address: 'here',
    read: async (name) => files.get(name),
    write: async (name, bytes) => void files.set(name, Buffer.from(bytes)),
    create: async (name, bytes) => {
      if (files.has(name)) return false
      files.set(name, Buffer.from(bytes))
      return true
    },
    async *list() {},
    delete: async (name) => void files.delete(name),
    flush: async () => {},
    async [Symbol.asyncDispose]() {},
  }
}

const elsewhere = (renewals: number) =>
  Buffer.from(JSON.stringify({ token: 't', host: 'other', pid: 1, started: '1', renewals }))

function locking(files: Map<string, Buffer>, meanwhile: (waitedMs: number) => void = () => {}) {
  let waitedMs = 0
  const wait = async (ms: number) => {
    waitedMs += ms
    meanwhile(waitedMs)
  }
  return lockPlace(placeOf(files), { say: () => {}, wait })
}

describe('the lock of a place', () => {
  test('is given back, and taken by one at a time', async () => {
    const files = new Map<string, Buffer>()
    {
      await using lock = await locking(files)
      await lock.assertHeld()
      await expect(locking(files)).rejects.toThrow(`process ${process.pid} of`)
    }
    expect(files.size).toBe(0)
  })

  test('of a process of this machine that is gone is taken over at once', async () => {
    const files = new Map<string, Buffer>()
    const dead = await locking(files)
    const [name = '', text] = [...files][0] ?? []
    files.set(name, Buffer.from(String(text).replace(/"started":"[^"]*"/, '"started":"0"')))
    await using lock = await locking(files, (waitedMs) => expect(waitedMs).toBe(1000))
    await lock.assertHeld()
    await expect(dead.assertHeld()).rejects.toThrow('Another backup writes into "here"')
    await dead[Symbol.asyncDispose]()
    await lock.assertHeld()
  })

  test('of another machine is taken over when it was not renewed for 45 seconds', async () => {
    const files = new Map([['lock', elsewhere(3)]])
    let lastMs = 0
    await using lock = await locking(files, (waitedMs) => (lastMs = waitedMs))
    await lock.assertHeld()
    expect(lastMs).toBe(46_000)
  })

  test('of another machine is respected when it is renewed', async () => {
    const files = new Map([['lock', elsewhere(3)]])
    const renewed = (waitedMs: number) => {
      if (waitedMs === 40_000) files.set('lock', elsewhere(4))
    }
    await expect(locking(files, renewed)).rejects.toThrow('process 1 of other')
  })

  test('is not taken by two who find the same dead one', async () => {
    const files = new Map([['lock', elsewhere(3)]])
    const taken = (waitedMs: number) => {
      if (waitedMs > 45_000) files.set('lock', elsewhere(0))
    }
    await expect(locking(files, taken)).rejects.toThrow('process 1 of other')
  })
})
