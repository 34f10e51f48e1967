import { AppError } from '#base/app-error.ts'
import type { ErrorCode } from '#base/error-status.ts'
import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'
import { doingOf, limitError, mismatchError } from '#runtime/calls/failures.ts'
import { codeFaultMessage } from '#runtime/functions/function-code.ts'

type Limit = Extract<SandboxFailure, { kind: 'limit' }>
type Thrown = Extract<SandboxFailure, { kind: 'thrown' }>

/** Ad-hoc code is run by the site's admins: they may read all of what went wrong. */
export function computeFailure(failure: SandboxFailure): AppError {
  switch (failure.kind) {
    case 'thrown':
      return thrownFailure(failure)
    case 'invalidCode': {
      const message = codeFaultMessage(failure.fault, failure.fault.path ?? '')
      return new AppError('InvalidCode', message, { details: [{ field: 'code', message }] })
    }
    case 'limit':
      return limitError(failure, { ...LIMITS[failure.what], fields: activityOf(failure) })
    case 'invalidResult':
      return new AppError('InvalidOperationResult', `The result is not JSON: ${failure.message}`)
    case 'mismatch':
      return mismatchError(failure, 'the operation')
    case 'invalidBody':
      return new AppError('ValidationError', `payload: ${failure.message}`)
    case 'interrupted':
      return new AppError('OperationInterrupted', 'The run was interrupted: try again', {
        retryAfterSeconds: 1,
        fields: { retryable: true },
      })
  }
}

function thrownFailure({ stack, message, retryAfterSeconds }: Thrown): AppError {
  const line = lineOf(stack)
  const fields = { stack: trimStack(stack), ...(line === undefined ? {} : { line }) }
  const text = message.slice(0, 4000).toWellFormed()
  return retryAfterSeconds === undefined
    ? new AppError('ExecutionFailed', text, { fields })
    : new AppError('ServiceUnavailable', text, { fields, retryAfterSeconds })
}

const LIMITS = {
  timeoutMs: { code: 'ExecutionTimeout', message: 'The code ran longer than it may' },
  cpuMs: { code: 'ExecutionTimeout', message: 'The code computed longer at a stretch than it may' },
  memoryMb: { code: 'MemoryLimitExceeded', message: 'The code used more memory than it may' },
  resultBytes: { code: 'InvalidOperationResult', message: 'The result is larger than it may be' },
  queueLength: { code: 'OperationOverloaded', message: 'Too many calls of this site wait already' },
  queueCharacters: {
    code: 'OperationOverloaded',
    message: 'The runs of this site that wait already are too long together',
  },
  queueMs: { code: 'OperationOverloaded', message: 'The code waited too long for a place to run' },
} as const satisfies Record<Limit['what'], { code: ErrorCode; message: string }>

/** Where the code was, as for what it throws. */
function activityOf(failure: Limit): object {
  const stack = doingOf(failure)
  if (stack === undefined) return {}
  const line = 'at' in failure ? failure.at?.line : undefined
  return { stack: trimStack(stack), ...(line === undefined ? {} : { line }) }
}

/** A stack that fits an answer: its first lines, without our own frames and what a hostile message could blow it up with. */
const trimStack = (stack: string): string => ownLines(stack).slice(0, 10).join('\n').toWellFormed()

/** The first line number of a stack's frames, 1-based. */
function lineOf(stack: string): number | undefined {
  const frame = /^\s*at .*?:(\d{1,9})(?::\d{1,9})?\)?$/m.exec(ownLines(stack).join('\n'))
  return frame?.[1] === undefined ? undefined : Number(frame[1])
}

/** What calls the code, and what it calls of the web platform, is ours. */
const ownLines = (stack: string): string[] =>
  stack
    .slice(0, 4000)
    .split('\n')
    .filter((line) => !/^\s*at .*croft:prelude(?:\/[a-z-]+)?:/.test(line))
