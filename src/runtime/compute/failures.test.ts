import { describe, expect, test } from 'vitest'

import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'

import { computeFailure } from './failures.ts'

const limit = (what: Extract<SandboxFailure, { kind: 'limit' }>['what']): SandboxFailure => ({
  kind: 'limit',
  what,
  limit: 1,
  used: 2,
})

describe('a failed execution', () => {
  test.each([
    ['a throw', { kind: 'thrown', message: 'm', stack: '' }, 'ExecutionFailed'],
    [
      'a refusal that passes',
      { kind: 'thrown', message: 'm', stack: '', retryAfterSeconds: 1 },
      'ServiceUnavailable',
    ],
    ['a fault of syntax', { kind: 'invalidCode', fault: { message: 'm' } }, 'InvalidCode'],
    ['time', limit('timeoutMs'), 'ExecutionTimeout'],
    ['CPU', limit('cpuMs'), 'ExecutionTimeout'],
    ['memory', limit('memoryMb'), 'MemoryLimitExceeded'],
    ['a large result', limit('resultBytes'), 'InvalidOperationResult'],
    ['a full queue', limit('queueLength'), 'OperationOverloaded'],
    ['a long wait', limit('queueMs'), 'OperationOverloaded'],
    ['no JSON', { kind: 'invalidResult', message: 'm' }, 'InvalidOperationResult'],
    ['no body', { kind: 'invalidBody', message: 'm' }, 'ValidationError'],
    ['a lost host', { kind: 'interrupted', message: 'm' }, 'OperationInterrupted'],
  ] as const)('by %s is distinguished', (_what, failure, code) => {
    expect(computeFailure(failure).code).toBe(code)
  })

  test('by a throw shows message, stack and line', () => {
    const stack = 'TypeError: x is not a function\n    at helper (index.js:7:3)\n    at main.js:9'
    const error = computeFailure({ kind: 'thrown', message: 'x is not a function', stack })
    expect(error.message).toBe('x is not a function')
    expect(error.fields).toEqual({ stack, line: 7 })
  })

  test('by a throw inside of what the platform offers shows the line that asked for it', () => {
    const stack =
      'TypeError: no\n    at W3 (croft:prelude:24:21284)\n    at async main (compute.js:3:42)\n    at m1 (croft:prelude:29:4)'
    const error = computeFailure({ kind: 'thrown', message: 'no', stack })
    expect(error.fields).toEqual({
      stack: 'TypeError: no\n    at async main (compute.js:3:42)',
      line: 3,
    })
  })

  test('by a throw stays small however large the error is', () => {
    const huge = 'x\n'.repeat(1_000_000)
    const error = computeFailure({ kind: 'thrown', message: huge, stack: huge })
    expect(JSON.stringify(error.fields).length + error.message.length).toBeLessThan(10_000)
  })

  test('by syntax names the line', () => {
    const error = computeFailure({
      kind: 'invalidCode',
      fault: { message: 'Unexpected token', path: 'index.js', line: 3 },
    })
    expect(error.details).toEqual([{ field: 'code', message: 'line 3: Unexpected token' }])
  })
})
