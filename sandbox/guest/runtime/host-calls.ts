import { jsonParse, PromiseClass } from '#sandbox/guest/web/primordials.ts'
import {
  type HostCallName,
  type HostFailure,
  type LocalCallName,
  MAX_ARGUMENT_LENGTH,
} from '#sandbox/protocol/protocol.ts'

import { type CallSite, captureCallSite, HostError } from './host-error.ts'
import { countPending, isLive, pendingOf } from './live-calls.ts'
import { emit } from './output.ts'
import { HOST_CALL } from './record-kinds.ts'
import { SafeMap } from './safe-map.ts'

/** Host calls that wait for their answer: of one call, and of all calls of a function. */
const MAX_PENDING_OF_CALL = 256
const MAX_PENDING = 4096
/** Limits the arguments of pending host calls together, in UTF-16 units. */
const MAX_PENDING_LENGTH = 32 * 1024 * 1024

interface PendingCall {
  /** The call that asks. */
  readonly call: number
  readonly name: string
  readonly length: number
  readonly at: CallSite | undefined
  readonly resolve: (text: string) => void
  readonly reject: (error: Error) => void
}

const pending = new SafeMap<PendingCall>()
let pendingLength = 0
/** Those that no call is known to have made. */
let unattributed = 0
let lastId = 0

/**
 * The requests and responses of calls that answer HTTP: a few of each call, which wait for its client and for no call in flight.
 * They leave the room to the others.
 */
const EXCHANGE: HostCallName = 'http'
let exchanging = 0

/** Puts a question to the host, counted on a call, or on none with 0. The answer comes in a later entry. */
export function callHost(
  call: number,
  name: HostCallName | LocalCallName,
  argument: string,
  at?: CallSite,
): Promise<string> {
  return new PromiseClass((resolve, reject) => {
    const { length } = argument
    const refusal = name === EXCHANGE ? undefined : (tooMany(call) ?? tooLong(length))
    if (refusal) {
      reject(new HostError(refusal, at))
      return
    }
    lastId += 1
    pending.set(lastId, { call, name, length, at, resolve, reject })
    count(call, name, length, 1)
    emit(`${HOST_CALL},${lastId},${call}`, name, argument)
  })
}

/** Asks with the rights of one call, as long as that call is open. */
export function callHostFor(call: number, name: HostCallName, argument: string): Promise<string> {
  const at = captureCallSite()
  if (isLive(call)) return callHost(call, name, argument, at)
  return new PromiseClass((_resolve, reject) => reject(new HostError(CALL_OVER, at)))
}

export const forEachPending = (visit: (call: PendingCall) => void): void => pending.forEach(visit)

export function answerHostCall(id: number, ok: boolean, text: string): void {
  const call = pending.get(id)
  if (!call) return
  pending.delete(id)
  count(call.call, call.name, -call.length, -1)
  if (ok) call.resolve(text)
  else call.reject(new HostError(jsonParse(text) as HostFailure, call.at))
}

/** Whether a host call is open of which it is not known which call made it. */
export const hasUnattributed = (): boolean => unattributed > 0

function count(call: number, name: string, length: number, change: 1 | -1): void {
  if (name === EXCHANGE) {
    exchanging += change
    return
  }
  pendingLength += length
  countPending(call, change)
  if (call === 0) unattributed += change
}

function tooMany(call: number): HostFailure | undefined {
  if (pendingOf(call) >= MAX_PENDING_OF_CALL) return TOO_MANY
  return pending.size - exchanging >= MAX_PENDING ? TOO_MANY_TOGETHER : undefined
}

function tooLong(length: number): HostFailure | undefined {
  if (length > MAX_ARGUMENT_LENGTH) return ARGUMENT_TOO_LONG
  return pendingLength + length > MAX_PENDING_LENGTH ? TOO_MUCH : undefined
}

const TOO_MANY: HostFailure = {
  code: 'TooManyRequests',
  message: `More than ${MAX_PENDING_OF_CALL} host calls are pending: await some of them first`,
  statusCode: 429,
}
const TOO_MANY_TOGETHER: HostFailure = {
  code: 'TooManyRequests',
  message: `More than ${MAX_PENDING} host calls of this function's calls are pending: try again`,
  statusCode: 429,
}
const TOO_MUCH: HostFailure = {
  code: 'TooManyRequests',
  message: `The arguments of pending host calls are together over ${MAX_PENDING_LENGTH} characters: await some of them first`,
  statusCode: 429,
}
const ARGUMENT_TOO_LONG: HostFailure = {
  code: 'PayloadTooLarge',
  message: `The argument of a host call may be ${MAX_ARGUMENT_LENGTH} characters long as JSON`,
  statusCode: 413,
}
const CALL_OVER: HostFailure = {
  code: 'CallOver',
  message: 'The call that this ctx belongs to is over: use the ctx of the call that needs it',
  statusCode: 409,
}
