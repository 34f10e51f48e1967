import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import type { Logger } from '#platform/log/logger.ts'

import { type BoundedHost, HostMemoryBound } from './host-memory-bound.ts'

const MIB = 1024 * 1024
const LIMIT = 400

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

let hosts: Writable<BoundedHost>[]
let megabytes: Map<number, number>
let isSpareReady: boolean
let replaced: number[]
let ended: number[]
let bound: HostMemoryBound
const info = vi.fn<(fields: object, message: string) => void>()
const warn = vi.fn<(fields: object, message: string) => void>()

beforeEach(() => {
  const roles = ['ordinary', 'apart', 'spare'] as const
  hosts = roles.map((role, at) => ({
    pid: at + 1,
    role,
    isReady: true,
    isLeaving: false,
    calls: 1,
  }))
  megabytes = new Map(hosts.map(({ pid }) => [pid, 90]))
  isSpareReady = true
  replaced = []
  ended = []
  info.mockClear()
  warn.mockClear()
  bound = new HostMemoryBound({
    limitBytes: LIMIT * MIB,
    logger: { info, warn } as unknown as Logger,
    hosts: () => hosts,
    replace: (pid) => {
      if (isSpareReady) replaced.push(pid)
      return isSpareReady
    },
    end: (pid) => void ended.push(pid),
    bytesOf: (pid) => (megabytes.get(pid) ?? 0) * MIB,
  })
  bound.look(0)
})
afterEach(() => bound.stop())

describe('the memory of all hosts together', () => {
  test('replaces no host below its limit', () => {
    megabytes.set(1, LIMIT - 180)
    bound.look(1000)
    expect(replaced).toEqual([])
  })

  test('replaces the one that has grown most over it, and says so with its figures', () => {
    hosts.push({ pid: 4, role: 'long', isReady: true, isLeaving: false, calls: 0 })
    megabytes.set(4, 200)
    bound.look(1000)
    megabytes.set(2, 140)
    bound.look(10_000)
    expect(replaced).toEqual([2])
    expect(info.mock.calls.map(([fields]) => fields)).toEqual([
      {
        bytes: 520 * MIB,
        limitBytes: LIMIT * MIB,
        hostPid: 2,
        role: 'apart',
        hostBytes: 140 * MIB,
        grownBytes: 50 * MIB,
        calls: 1,
      },
    ])
  })

  test('ends one that leaves when its calls have, and replaces no other before', () => {
    megabytes.set(1, 300)
    megabytes.set(2, 250)
    bound.look(1000)
    const [first] = hosts
    Object.assign(first ?? {}, { isLeaving: true })
    bound.look(20_000)
    expect({ replaced, ended }).toEqual({ replaced: [1], ended: [] })
    Object.assign(first ?? {}, { calls: 0 })
    bound.look(21_000)
    expect({ replaced, ended }).toEqual({ replaced: [1], ended: [1] })
    hosts = hosts.slice(1)
    megabytes.set(3, 200)
    bound.look(22_000)
    expect(replaced).toEqual([1, 2])
  })

  test('measures again some seconds after a host is replaced', () => {
    megabytes.set(1, 300)
    for (const nowMs of [1000, 2000, 5900]) bound.look(nowMs)
    expect(replaced).toEqual([1])
    bound.look(6000)
    expect(replaced).toEqual([1, 1])
  })

  test('waits until another is ready, and takes one that is not for none', () => {
    megabytes.set(1, 300)
    isSpareReady = false
    bound.look(1000)
    expect(info).not.toHaveBeenCalled()
    isSpareReady = true
    for (const host of hosts) host.isReady = false
    bound.look(2000)
    expect(replaced).toEqual([])
  })

  test('says once that it is too low when all are as small as they began', () => {
    hosts.push({ pid: 4, role: 'long', isReady: true, isLeaving: false, calls: 0 })
    megabytes.set(4, 200)
    for (let nowMs = 1000; nowMs < 60_000; nowMs += 1000) bound.look(nowMs)
    expect(replaced).toEqual([])
    expect(warn.mock.calls).toEqual([
      [expect.objectContaining({ bytes: 470 * MIB }), expect.stringContaining('too low for them')],
    ])
  })
})
