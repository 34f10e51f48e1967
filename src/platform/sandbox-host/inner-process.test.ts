import process from 'node:process'

import { expect, test } from 'vitest'

import { type ProcessTree, innerEnd, innerPid } from './inner-process.ts'

test.each([
  [134, 'SIGABRT'],
  [137, 'SIGKILL'],
  [139, 'SIGSEGV'],
])('the exit code %i of what is around a process means that %s ended it', (code, signal) => {
  expect(innerEnd({ code, signal: null })).toEqual({ code: null, signal })
})

test.each([
  { code: 0, signal: null },
  { code: 1, signal: null },
  { code: 255, signal: null },
  { code: null, signal: 'SIGKILL' as const },
])('any other end stays as it is: %o', (end) => {
  expect(innerEnd(end)).toEqual(end)
})

test('a process that nothing is around has none inside', () => {
  expect(innerPid(process.pid)).toBeUndefined()
})

/** How a jail comes up: a shell that tries its limits in a child, bubblewrap, its second process, and what it is all for. */
const MOMENTS: readonly Readonly<Record<number, { name: string; child?: number }>>[] = [
  { 1: { name: 'sh' } },
  { 1: { name: 'sh', child: 2 }, 2: { name: 'sh' } },
  { 1: { name: 'bwrap' } },
  { 1: { name: 'bwrap', child: 3 }, 3: { name: 'bwrap' } },
  { 1: { name: 'bwrap', child: 3 }, 3: { name: 'bwrap', child: 4 }, 4: { name: 'bwrap' } },
  { 1: { name: 'bwrap', child: 3 }, 3: { name: 'bwrap', child: 4 }, 4: { name: 'setpriv' } },
  { 1: { name: 'bwrap', child: 3 }, 3: { name: 'bwrap', child: 4 }, 4: { name: 'node' } },
  { 1: { name: 'bwrap', child: 3 }, 3: { name: 'bwrap' } },
  {},
]

/** The tree is as at the first moment for so many looks, then as at the second. */
function changingTree(before: number, looks: number, after: number): ProcessTree {
  let looked = 0
  const now = () => MOMENTS[looked++ < looks ? before : after] ?? {}
  return { nameOf: (pid) => now()[pid]?.name, firstChildOf: (pid) => now()[pid]?.child }
}

test('no other process is taken for the one inside, whatever changes while it is looked for', () => {
  const found = new Set<number | undefined>()
  for (const before of MOMENTS.keys()) {
    for (const after of [...MOMENTS.keys()].filter((moment) => moment >= before)) {
      for (let looks = 0; looks < 8; looks++) {
        found.add(innerPid(1, changingTree(before, looks, after)))
      }
    }
  }
  expect([...found]).toEqual([undefined, 4])
})
