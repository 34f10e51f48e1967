import { describe, expect, test } from 'vitest'

import {
  type Architecture,
  seccompFilter,
  ABSENT_SYSCALLS,
  DENIED_SYSCALLS,
  JUDGED_SYSCALLS,
} from './seccomp-filter.ts'

const ALLOWED = 0x7fff0000
const KILLED = 0x80000000
const NOT_PERMITTED = 0x00050001
const NOT_THERE = 0x00050026
const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
const CLONE_THREAD_AND_MORE = 0x3d0f00
const MOST_INSTRUCTIONS = 4096

interface Syscall {
  readonly number: number
  readonly argument?: number
  readonly architecture?: number
}

/** The kernel's answer, by the four kinds of instruction that the filter is made of. */
function judge(architecture: Architecture, syscall: Syscall): number {
  const program = seccompFilter(architecture)
  const data = new Map([
    [0, syscall.number],
    [4, syscall.architecture ?? AUDIT[architecture]],
    [16, syscall.argument ?? 0],
  ])
  let loaded = 0
  for (let at = 0; at < program.length; at += 8) {
    const value = program.readUInt32LE(at + 4)
    const jump = (holds: boolean): number => 8 * program.readUInt8(at + (holds ? 2 : 3))
    switch (program.readUInt16LE(at)) {
      case 0x20:
        loaded = data.get(value) ?? Number.NaN
        break
      case 0x15:
        at += jump(loaded === value)
        break
      case 0x35:
        at += jump(loaded >= value)
        break
      case 0x45:
        at += jump((loaded & value) !== 0)
        break
      case 0x06:
        return value
      default:
        throw new Error(`No such instruction at ${at}`)
    }
  }
  throw new Error('The program has no end')
}

const cases = (['x64', 'arm64'] as const).map((architecture) => {
  const index = architecture === 'x64' ? 0 : 1
  const named = (table: Readonly<Record<string, readonly number[]>>) =>
    Object.entries(table).flatMap(([name, numbers]) => {
      const number = numbers[index]
      return number === undefined ? [] : [{ name, number }]
    })
  return { architecture, index, named }
})

describe.each(cases)('the filter for $architecture', ({ architecture, index, named }) => {
  const [clone = 0, socket = 0] = Object.values(JUDGED_SYSCALLS).map((numbers) => numbers[index])

  test('is a program that the kernel takes', () => {
    const { length } = seccompFilter(architecture)
    expect(length % 8).toBe(0)
    expect(length / 8).toBeLessThan(MOST_INSTRUCTIONS)
  })

  test.each(named(DENIED_SYSCALLS))('refuses $name', ({ number }) => {
    expect(judge(architecture, { number })).toBe(NOT_PERMITTED)
  })

  test.each(named(ABSENT_SYSCALLS))('says that there is no $name', ({ number }) => {
    expect(judge(architecture, { number })).toBe(NOT_THERE)
  })

  test.each([
    ['a thread', clone, CLONE_THREAD_AND_MORE, ALLOWED],
    ['a process', clone, 0x01200011, NOT_PERMITTED],
    ['a process in namespaces of its own', clone, 0x10000000, NOT_PERMITTED],
    ['a thread in a network of its own', clone, CLONE_THREAD_AND_MORE | 0x40000000, NOT_PERMITTED],
    ['a local socket', socket, 1, ALLOWED],
    ['an IPv4 socket', socket, 2, NOT_PERMITTED],
    ['an IPv6 socket', socket, 10, NOT_PERMITTED],
    ['a netlink socket', socket, 16, NOT_PERMITTED],
    ['a packet socket', socket, 17, NOT_PERMITTED],
  ])('answers %s', (_, number, argument, answer) => {
    expect(judge(architecture, { number, argument })).toBe(answer)
  })

  test('lets everything else be', () => {
    const judged = new Set(
      [DENIED_SYSCALLS, ABSENT_SYSCALLS, JUDGED_SYSCALLS].flatMap((table) =>
        named(table).map(({ number }) => number),
      ),
    )
    const others = Array.from({ length: 500 }, (_, number) => number).filter(
      (number) => !judged.has(number),
    )
    expect(others.filter((number) => judge(architecture, { number }) !== ALLOWED)).toEqual([])
  })

  test('ends a process that calls by the numbers of another architecture', () => {
    const other = architecture === 'x64' ? AUDIT.arm64 : AUDIT.x64
    expect(judge(architecture, { number: 0, architecture: other })).toBe(KILLED)
    expect(judge(architecture, { number: 0, architecture: 0x40000003 })).toBe(KILLED)
  })
})

test('x32, the other set of numbers of x86-64, is refused', () => {
  expect(judge('x64', { number: 0x40000000 })).toBe(NOT_PERMITTED)
  expect(judge('x64', { number: 0x40000000 | 520 })).toBe(NOT_PERMITTED)
})
