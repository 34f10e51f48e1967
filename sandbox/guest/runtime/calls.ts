import { schemaFaultsOf } from '#sandbox/guest/schema/check-schema.ts'
import { canonicalText } from '#sandbox/guest/schema/json-equality.ts'
import type { PrintLevel } from '#sandbox/guest/web/host.ts'
import {
  isPromise,
  jsonParse,
  jsonStringify,
  objectKeys,
  TypeErrorClass,
} from '#sandbox/guest/web/primordials.ts'
import type { SchemaFault } from '#sandbox/protocol/compiled-schema.ts'

import { CallContext } from './call-context.ts'
import { configured } from './config.ts'
import { answerFetch, type FetchAnswer } from './fetch-handler.ts'
import { isHostError } from './host-error.ts'
import { serveHttp } from './http-exchange.ts'
import { parseServed } from './http-request.ts'
import {
  addCall,
  afterWork,
  attributedCall,
  forgetCall,
  isUnanswered,
  linesOf,
  outputOf,
  promiseOutput,
  runInCall,
  workOf,
} from './live-calls.ts'
import { loadedTarget, type Target } from './modules.ts'
import { schemasOf } from './operation-schemas.ts'
import { emit, type LineBudget, printLine } from './output.ts'
import {
  ANSWERED,
  INVALID_BODY,
  INVALID_RESULT,
  MISMATCH,
  OVERSIZED,
  RESULT,
  THROWN,
} from './record-kinds.ts'
import { describeThrown } from './thrown.ts'

const NO_FETCH =
  'An operation with "http": true needs a function with `export default { fetch }` or `Deno.serve(handler)`'

export interface CallInput {
  readonly id: number
  /** Whether the body is a `ServedRequest` and the result its response. */
  readonly http: boolean
  readonly operation: string
  readonly requestId: string
  /** JSON text. */
  readonly auth: string
  /** JSON text, except for `http`. */
  readonly body: string
}

const loose: LineBudget = { left: 0 }

export function print(level: PrintLevel, text: string): void {
  const call = attributedCall()
  printLine(call, linesOf(call) ?? loose, level, text)
}

/** Code outside of any call may print again. */
export function renewLines(): void {
  loose.left = configured().logLines
}

export function startCall(input: CallInput): void {
  const target = loadedTarget()
  addCall(input.id, { left: configured().logLines })
  renewLines()
  const payload = input.http ? NOTHING : readBody(input)
  if (!payload || !target) return
  runInCall(input.id, () => {
    try {
      if (isAcceptable(input, payload.value)) begin(input, payload.value, target)
    } catch (error) {
      failCall(input.id, error)
    }
  })
}

const NOTHING = { value: undefined }

/** Before any code of the site has run for the call. */
function isAcceptable({ id, operation }: CallInput, payload: unknown): boolean {
  const schemas = schemasOf(operation)
  if (schemas === undefined) return true
  if (schemas.output) promiseOutput(id, schemas.output)
  if (!schemas.input) return true
  const faults = schemaFaultsOf(schemas.input, payload, '/payload')
  if (faults.length > 0) mismatched(id, 0, faults)
  return faults.length === 0
}

function readBody(input: CallInput): { value: unknown } | undefined {
  let message = 'The body must be a JSON object with "payload" and no other field'
  try {
    const body = jsonParse(input.body)
    if (typeof body === 'object' && body !== null && !isArray(body)) {
      const names = objectKeys(body)
      if (names.length === 0) return { value: null }
      if (names.length === 1 && names[0] === 'payload') {
        return { value: (body as { payload: unknown }).payload }
      }
    }
  } catch (error) {
    message = `The body is not JSON: ${describeThrown(error).message}`
  }
  forgetCall(input.id)
  emit(`${INVALID_BODY},${input.id}`, message)
  return undefined
}

function begin(input: CallInput, payload: unknown, target: Target): void {
  if (input.http) {
    beginHttp(input, target)
    return
  }
  const context = new CallContext(input.id, { ...input, basePath: `/data/${input.operation}` })
  if (target.kind === 'fetch') {
    void settle(input.id, answerFetch(input, payload, { target, context }), answered)
    return
  }
  const { site } = configured()
  const { operation, requestId } = input
  const auth = input.auth === 'null' ? null : jsonParse(input.auth)
  // Called by itself: a function that is called as a method says so in each of its frames.
  const { handle } = target
  const value = handle({ payload, auth, operation, requestId, site }, context)
  if (isThenable(value)) void settle(input.id, value, finishCall)
  else finishCall(input.id, value)
}

function beginHttp(input: CallInput, target: Target): void {
  if (target.kind !== 'fetch') throw new TypeErrorClass(NO_FETCH)
  const incoming = parseServed(input.body)
  const context = new CallContext(input.id, { ...input, basePath: incoming.basePath })
  void settle(input.id, serveHttp({ id: input.id, incoming, target, context }), finishText)
}

/** `await` on a promise uses the built-in, whatever site code did to `then`. */
async function settle<Value>(
  id: number,
  value: Value | Promise<Value>,
  finish: (id: number, value: Value) => void,
): Promise<void> {
  try {
    finish(id, await (value as Promise<Value>))
  } catch (error) {
    failCall(id, error)
  }
}

function finishCall(id: number, value: unknown): void {
  if (!isUnanswered(id)) return
  let text: string | undefined = 'null'
  if (value !== undefined) {
    try {
      text = jsonStringify(value)
    } catch (error) {
      invalidResult(id, describeThrown(error).message)
      return
    }
  }
  if (text === undefined) invalidResult(id, `it is a ${typeof value}`)
  else finishData(id, text)
}

function answered(id: number, answer: FetchAnswer): void {
  if (!isUnanswered(id)) return
  if ('unfit' in answer) invalidResult(id, answer.unfit)
  else finishData(id, answer.text)
}

/** Checks the serialized text: site code may change the value later. */
function finishData(id: number, text: string): void {
  const output = outputOf(id)
  if (!output || text.length > configured().resultBytes) {
    finishText(id, text)
    return
  }
  runInCall(id, () => {
    const faults = schemaFaultsOf(output, jsonParse(text), '/data')
    if (faults.length > 0) mismatched(id, 1, faults)
    else finishText(id, text)
  })
}

function mismatched(id: number, ofResult: 0 | 1, faults: readonly SchemaFault[]): void {
  endCall(id, () => emit(`${MISMATCH},${id},${ofResult}`, canonicalText(faults)))
}

/** The caller has the result at once, whatever the call goes on with. */
function finishText(id: number, text: string): void {
  if (!isUnanswered(id)) return
  if (text.length > configured().resultBytes) {
    endCall(id, () => emit(`${OVERSIZED},${id},${text.length}`))
  } else if (workOf(id) === 0) {
    endCall(id, () => emit(`${RESULT},${id}`, text))
  } else {
    emit(`${ANSWERED},${id}`, text)
    endCall(id, () => emit(`${RESULT},${id}`, ''))
  }
}

function invalidResult(id: number, message: string): void {
  endCall(id, () => emit(`${INVALID_RESULT},${id}`, message))
}

/** At once, or when the work that the call gave to `waitUntil` is done. */
function endCall(id: number, tell: () => void): void {
  const end = (): void => {
    forgetCall(id)
    tell()
  }
  if (workOf(id) === 0) end()
  else afterWork(id, end)
}

function failCall(id: number, thrown: unknown): void {
  if (!isUnanswered(id)) return
  const { statusCode, code, message, stack } = describeThrown(thrown)
  // What the host said to this function is for its log, not for its caller.
  const status = isHostError(thrown) ? 0 : statusCode
  endCall(id, () => emit(`${THROWN},${id},${status}`, code, message, stack))
}

const isArray = Array.isArray

/** A promise is one whatever site code has put in place of its `then`. */
function isThenable(value: unknown): boolean {
  if (isPromise(value)) return true
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return typeof (value as { then?: unknown }).then === 'function'
}
