import { describe, expect, test } from 'vitest'

import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'

import { operationError, logMessage } from './failures.ts'

const CALL = { operation: 'report', requestId: 'r-1' }
const limit = (what: Extract<SandboxFailure, { kind: 'limit' }>['what']): SandboxFailure => ({
  kind: 'limit',
  what,
  limit: 10,
  used: 12,
})
const thrown = (extra: object = {}): SandboxFailure => ({
  kind: 'thrown',
  message: 'no such order',
  stack: 'Error: no such order\n    at handler (orders.ts:3)',
  ...extra,
})

describe('a failed run', () => {
  test.each([
    ['a thrown error', thrown(), 'OperationFailed'],
    ['a throw with a 5xx', thrown({ statusCode: 503, code: 'Nope' }), 'OperationFailed'],
    ['a throw with a 3xx', thrown({ statusCode: 302, code: 'Nope' }), 'OperationFailed'],
    ['a throw with half a status', thrown({ statusCode: 404.5, code: 'Nope' }), 'OperationFailed'],
    ['a 4xx without a code', thrown({ statusCode: 404 }), 'OperationFailed'],
    ['a 4xx with a wild code', thrown({ statusCode: 404, code: 'a b\n' }), 'OperationFailed'],
    ['a 4xx with a code', thrown({ statusCode: 404, code: 'OrderNotFound' }), 'OperationRejected'],
    ['a refusal that passes', thrown({ retryAfterSeconds: 3 }), 'ServiceUnavailable'],
    ['too long a run', limit('timeoutMs'), 'OperationTimeout'],
    ['too long a stretch', limit('cpuMs'), 'OperationTimeout'],
    ['too much memory', limit('memoryMb'), 'MemoryLimitExceeded'],
    ['too large a result', limit('resultBytes'), 'InvalidOperationResult'],
    ['a full queue', limit('queueLength'), 'OperationOverloaded'],
    ['a queue of long bodies', limit('queueCharacters'), 'OperationOverloaded'],
    ['too long a wait', limit('queueMs'), 'OperationOverloaded'],
    ['no JSON', { kind: 'invalidResult', message: 'cyclic' }, 'InvalidOperationResult'],
    ['a broken body', { kind: 'invalidBody', message: 'not an object' }, 'ValidationError'],
    [
      'code that does not load',
      { kind: 'invalidCode', fault: { message: 'x' } },
      'InvalidFunction',
    ],
    ['a host that went down', { kind: 'interrupted', message: 'killed' }, 'OperationInterrupted'],
  ] as const)('by %s is distinguished', (_what, failure, code) => {
    expect(operationError(failure, CALL).code).toBe(code)
    expect(logMessage(failure)).not.toBe('')
  })

  test('by a refusal that passes says when to try again, and nothing of what was refused', () => {
    const refused = { statusCode: 0, code: 'DiskFull', retryAfterSeconds: 30 }
    const error = operationError(thrown(refused), CALL)
    expect(error).toMatchObject({ retryAfterSeconds: 30, fields: { retryable: true } })
    expect(error.message).not.toContain('order')
    const own = { ...refused, statusCode: 409 }
    expect(operationError(thrown(own), CALL)).toMatchObject({ code: 'OperationRejected' })
  })

  test('by a limit names the limit, what was used, the operation and the request', () => {
    const error = operationError(limit('timeoutMs'), CALL)
    expect(error.message).toContain('limit 10, used 12 (timeoutMs)')
    expect(error.fields).toEqual({
      operation: 'report',
      requestId: 'r-1',
      limit: { name: 'timeoutMs', value: 10, used: 12 },
    })
  })

  test.each(['queueLength', 'queueMs'] as const)('by %s may be tried again', (what) => {
    const error = operationError(limit(what), CALL)
    expect(error.retryAfterSeconds).toBe(1)
    expect(error.fields).toMatchObject({ retryable: true })
  })

  test('keeps what was thrown for the log, unless it was meant for the caller', () => {
    expect(operationError(thrown(), CALL).message).not.toContain('no such order')
    expect(logMessage(thrown())).toContain('orders.ts:3')
    const rejected = operationError(thrown({ statusCode: 409, code: 'Taken' }), CALL)
    expect(rejected.message).toBe('no such order')
    expect(rejected.thrown).toEqual({ statusCode: 409, code: 'Taken' })
  })
})
