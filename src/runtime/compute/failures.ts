import { AppError } from '#base/app-error.ts'
import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'
import { codeFaultMessage } from '#runtime/resources/function-code.ts'

import { lineOf, trimStack } from './model.ts'

type Limit = Extract<SandboxFailure, { kind: 'limit' }>

/** Ad-hoc code is run by the site's admins: they may read all of what went wrong. */
export function computeFailure(failure: SandboxFailure): AppError {
  switch (failure.kind) {
    case 'thrown': {
      const line = lineOf(failure.stack)
      return new AppError('ExecutionFailed', failure.message.slice(0, 4000).toWellFormed(), {
        fields: { stack: trimStack(failure.stack), ...(line === undefined ? {} : { line }) },
      })
    }
    case 'invalidCode': {
      const message = codeFaultMessage(failure.fault, failure.fault.path ?? '')
      return new AppError('InvalidCode', message, { details: [{ field: 'code', message }] })
    }
    case 'limit':
      return limited(failure)
    case 'invalidResult':
      return new AppError('InvalidOperationResult', `The result is not JSON: ${failure.message}`)
    case 'invalidBody':
      return new AppError('ValidationError', `payload: ${failure.message}`)
    case 'interrupted':
      return new AppError('OperationInterrupted', 'The run was interrupted: try again', {
        retryAfterSeconds: 1,
        fields: { retryable: true },
      })
  }
}

const LIMITS = {
  timeoutMs: { code: 'ExecutionTimeout', words: 'The code ran longer than it may' },
  cpuMs: { code: 'ExecutionTimeout', words: 'The code computed longer at a stretch than it may' },
  memoryMb: { code: 'MemoryLimitExceeded', words: 'The code used more memory than it may' },
  resultBytes: { code: 'InvalidOperationResult', words: 'The result is larger than it may be' },
  queueLength: { code: 'OperationOverloaded', words: 'Too many calls of this site wait already' },
  queueCharacters: {
    code: 'OperationOverloaded',
    words: 'The runs of this site that wait already are too long together',
  },
  queueMs: { code: 'OperationOverloaded', words: 'The code waited too long for a place to run' },
} as const satisfies Record<Limit['what'], { code: string; words: string }>

function limited({ what, limit, used }: Limit): AppError {
  const { code, words } = LIMITS[what]
  const overloaded = code === 'OperationOverloaded'
  return new AppError(code, `${words}: limit ${limit}, used ${used} (${what})`, {
    fields: {
      limit: { name: what, value: limit, used },
      ...(overloaded ? { retryable: true } : {}),
    },
    ...(overloaded ? { retryAfterSeconds: 1 } : {}),
  })
}
