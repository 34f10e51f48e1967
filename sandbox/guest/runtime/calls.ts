import type { PrintLevel } from '#sandbox/guest/web/host.ts'
import { isPromise, jsonParse, jsonStringify } from '#sandbox/guest/web/primordials.ts'

import { CallContext } from './call-context.ts'
import { configured } from './config.ts'
import { answerFetch } from './fetch-handler.ts'
import { isHostError } from './host-error.ts'
import { addCall, attributedCall, forgetCall, isLive, linesOf, runInCall } from './live-calls.ts'
import { loadedTarget, type Target } from './modules.ts'
import { emit, type LineBudget, printLine } from './output.ts'
import { INVALID_BODY, INVALID_RESULT, OVERSIZED, RESULT, THROWN } from './record-kinds.ts'
import { describeThrown } from './thrown.ts'

export interface CallInput {
  readonly id: number
  readonly operation: string
  readonly requestId: string
  /** JSON text. */
  readonly auth: string
  /** JSON text. */
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
  const payload = readBody(input)
  if (!payload || !target) return
  runInCall(input.id, () => {
    try {
      begin(input, payload.value, target)
    } catch (error) {
      failCall(input.id, error)
    }
  })
}

function readBody(input: CallInput): { value: unknown } | undefined {
  let message = 'The body must be a JSON object with a "payload"'
  try {
    const body = jsonParse(input.body)
    if (typeof body === 'object' && body !== null && !isArray(body)) {
      return { value: (body as { payload?: unknown }).payload }
    }
  } catch (error) {
    message = `The body is not JSON: ${describeThrown(error).message}`
  }
  forgetCall(input.id)
  emit(`${INVALID_BODY},${input.id}`, message)
  return undefined
}

function begin(input: CallInput, payload: unknown, target: Target): void {
  const context = new CallContext(input.id)
  if (target.kind === 'fetch') {
    void settle(input.id, answerFetch(input, payload, { target, context }), answered)
    return
  }
  const { site } = configured()
  const { operation, requestId } = input
  const auth = input.auth === 'null' ? null : jsonParse(input.auth)
  const value = target.handle({ payload, auth, operation, requestId, site }, context)
  if (isThenable(value)) void settle(input.id, value, finishCall)
  else finishCall(input.id, value)
}

/** `await` on a promise uses the built-in, whatever site code did to `then`. */
async function settle(
  id: number,
  value: unknown,
  finish: (id: number, value: unknown) => void,
): Promise<void> {
  try {
    finish(id, await value)
  } catch (error) {
    failCall(id, error)
  }
}

function finishCall(id: number, value: unknown): void {
  if (!isLive(id)) return
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
  else finishText(id, text)
}

/** What `answerFetch` gives is JSON text already. */
function answered(id: number, text: unknown): void {
  if (isLive(id)) finishText(id, text as string)
}

function finishText(id: number, text: string): void {
  forgetCall(id)
  if (text.length > configured().resultBytes) emit(`${OVERSIZED},${id},${text.length}`)
  else emit(`${RESULT},${id}`, text)
}

function invalidResult(id: number, message: string): void {
  forgetCall(id)
  emit(`${INVALID_RESULT},${id}`, message)
}

function failCall(id: number, thrown: unknown): void {
  if (!isLive(id)) return
  const { statusCode, code, message, stack } = describeThrown(thrown)
  forgetCall(id)
  // What the host said to this function is for its log, not for its caller.
  emit(`${THROWN},${id},${isHostError(thrown) ? 0 : statusCode}`, code, message, stack)
}

const isArray = Array.isArray

/** A promise is one whatever site code has put in place of its `then`. */
function isThenable(value: unknown): boolean {
  if (isPromise(value)) return true
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return typeof (value as { then?: unknown }).then === 'function'
}
