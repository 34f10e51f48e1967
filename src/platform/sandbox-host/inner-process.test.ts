import process from 'node:process'

import { expect, test } from 'vitest'

import { innerEnd, innerPid } from './inner-process.ts'

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
