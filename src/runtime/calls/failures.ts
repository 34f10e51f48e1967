import { AppError } from '#base/app-error.ts'
import type { ErrorCode } from '#base/error-status.ts'
import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'
import { codeFaultMessage } from '#runtime/functions/function-code.ts'

/** What a failed call was about, for its error and its log line. */
export interface FailedCall {
  readonly operation: string
  readonly requestId: string
}

type Limit = Extract<SandboxFailure, { kind: 'limit' }>
type Thrown = Extract<SandboxFailure, { kind: 'thrown' }>
type Mismatch = Extract<SandboxFailure, { kind: 'mismatch' }>

/** Codes that a function may throw to its caller. */
const THROWN_CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
const MAX_THROWN_MESSAGE = 1000

/** The caller's view of a run that ended without a result. What only the site's admins may read goes to its log instead. */
export function operationError(failure: SandboxFailure, call: FailedCall): AppError {
  const fields = { operation: call.operation }
  switch (failure.kind) {
    case 'thrown':
      return thrown(failure, call)
    case 'limit':
      return limited(failure, call)
    case 'invalidResult':
      return new AppError(
        'InvalidOperationResult',
        `Operation "${call.operation}" returned what JSON cannot carry`,
        { fields },
      )
    case 'mismatch':
      return mismatchError(failure, `operation "${call.operation}"`)
    case 'invalidBody':
      return new AppError('ValidationError', `The request body is not valid: ${failure.message}`)
    case 'invalidCode':
      return invalidFunction(call.operation)
    case 'interrupted':
      return new AppError(
        'OperationInterrupted',
        `Operation "${call.operation}" was interrupted through no fault of its own: try again`,
        { retryAfterSeconds: 1, fields: { ...fields, retryable: true } },
      )
  }
}

/** The code of an operation's function does not load; the site's log and its permission sync say why. */
export const invalidFunction = (operation: string): AppError =>
  new AppError(
    'InvalidFunction',
    `The function of operation "${operation}" does not load: its site's admins find the reason in the log`,
    { fields: { operation } },
  )

/** What the function answered is no HTTP, or not its own to say; the site's log tells which. */
export const unsendableResponse = (operation: string): AppError =>
  new AppError(
    'InvalidOperationResult',
    `Operation "${operation}" answered with a response that cannot be sent: its site's admins find the reason in the log`,
    { fields: { operation } },
  )

/** What the site's admins read of the same failure. */
export function logMessage(failure: SandboxFailure): string {
  switch (failure.kind) {
    case 'thrown':
      return failure.stack === '' ? failure.message : failure.stack
    case 'limit':
      return limitMessage(failure)
    case 'invalidResult':
      return `The result cannot be sent as JSON: ${failure.message}`
    case 'mismatch':
      return mismatchMessage(failure)
    case 'invalidBody':
      return `The request body is not valid: ${failure.message}`
    case 'invalidCode':
      return `The function does not load: ${codeFaultMessage(failure.fault, '')}`
    case 'interrupted':
      return `Interrupted through no fault of its own: ${failure.message}`
  }
}

/** Its caller may read what is wrong with a payload; of a result only that something is. */
export function mismatchError({ of, faults }: Mismatch, operation: string): AppError {
  if (of === 'result') {
    return new AppError(
      'InvalidOperationResult',
      `The result of ${operation} is not as its output schema says: its site's admins find the places in the log`,
    )
  }
  const [first] = faults
  const told = first ? `: ${first[0]} ${first[1]}` : ''
  return new AppError(
    'InvalidPayload',
    `The payload of ${operation} is not as its input schema says${told}`,
    { details: faults.map(([field, message]) => ({ field, message })) },
  )
}

function mismatchMessage({ of, faults }: Mismatch): string {
  const places = faults.map(([pointer, message]) => `${pointer} ${message}`)
  const schema = of === 'result' ? 'result is not as the output' : 'payload is not as the input'
  return `The ${schema} schema says: ${places.join('; ')}`
}

/** With the code that was running, or what it waited for. */
function limitMessage(failure: Limit): string {
  const { what, limit, used } = failure
  const message = `${LIMITS[what].words}: limit ${limit}, used ${used} (${what})`
  const doing = doingOf(failure)
  return doing === undefined ? message : `${message}\n${doing}`
}

/** What the site's code was doing when it met the limit, in lines. */
export const doingOf = (failure: Limit): string | undefined =>
  'doing' in failure ? failure.doing : undefined

const LIMITS = {
  timeoutMs: { code: 'OperationTimeout', words: 'It ran longer than it may' },
  cpuMs: { code: 'OperationTimeout', words: 'It computed longer at a stretch than it may' },
  memoryMb: { code: 'MemoryLimitExceeded', words: 'It used more memory than it may' },
  resultBytes: { code: 'InvalidOperationResult', words: 'Its result is larger than it may be' },
  queueLength: { code: 'OperationOverloaded', words: 'Too many calls of this site wait already' },
  queueCharacters: {
    code: 'OperationOverloaded',
    words: 'The calls of this site that wait already are too long together',
  },
  queueMs: { code: 'OperationOverloaded', words: 'It waited too long for a place to run' },
} as const satisfies Record<Limit['what'], { code: string; words: string }>

function limited(failure: Limit, { operation, requestId }: FailedCall): AppError {
  const { code, words } = LIMITS[failure.what]
  const message = `Operation "${operation}" was ended. ${words}`
  return limitError(failure, { code, message, fields: { operation, requestId } })
}

/** The error of a run that met a limit. */
export function limitError(
  { what, limit, used }: Limit,
  error: { readonly code: ErrorCode; readonly message: string; readonly fields?: object },
): AppError {
  const overloaded = error.code === 'OperationOverloaded'
  return new AppError(error.code, `${error.message}: limit ${limit}, used ${used} (${what})`, {
    fields: {
      ...error.fields,
      limit: { name: what, value: limit, used },
      ...(overloaded ? { retryable: true } : {}),
    },
    ...(overloaded ? { retryAfterSeconds: 1 } : {}),
  })
}

function thrown(failure: Thrown, { operation }: FailedCall): AppError {
  const { statusCode, code, message } = failure
  const meantForCaller =
    statusCode !== undefined &&
    Number.isInteger(statusCode) &&
    statusCode >= 400 &&
    statusCode < 500 &&
    code !== undefined &&
    THROWN_CODE.test(code)
  if (meantForCaller) {
    return new AppError('OperationRejected', message.slice(0, MAX_THROWN_MESSAGE).toWellFormed(), {
      thrown: { statusCode, code },
    })
  }
  if (failure.retryAfterSeconds !== undefined) return unavailable(operation, failure)
  return new AppError('OperationFailed', `Operation "${operation}" failed`, {
    fields: { operation },
  })
}

/** What its code asked the service for was away, or had too much to do. */
const unavailable = (operation: string, { retryAfterSeconds = 1 }: Thrown): AppError =>
  new AppError(
    'ServiceUnavailable',
    `Operation "${operation}" needs what is away, or has too much to do: try again`,
    { retryAfterSeconds, fields: { operation, retryable: true } },
  )

/** The same failure without the site's secrets in what its code said. */
export function redactedFailure(
  failure: SandboxFailure,
  redact: (text: string) => string,
): SandboxFailure {
  switch (failure.kind) {
    case 'thrown': {
      const { message, stack, code } = failure
      const said = { message: redact(message), stack: redact(stack) }
      return { ...failure, ...said, ...(code === undefined ? {} : { code: redact(code) }) }
    }
    case 'invalidCode':
      return { ...failure, fault: { ...failure.fault, message: redact(failure.fault.message) } }
    case 'invalidResult':
    case 'invalidBody':
    case 'interrupted':
      return { ...failure, message: redact(failure.message) }
    // Places and expectations; no values.
    case 'mismatch':
      return failure
    case 'limit':
      return redactedLimit(failure, redact)
  }
}

const redactedLimit = (failure: Limit, redact: (text: string) => string): Limit =>
  'doing' in failure && failure.doing !== undefined
    ? { ...failure, doing: redact(failure.doing) }
    : failure
