import { AppError, notFound } from '#base/app-error.ts'
import type { HostCall } from '#platform/sandbox-host/sandbox.ts'
import type { OperationCalls } from '#runtime/calls/operation-calls.ts'
import { NO_PAYLOAD } from '#runtime/calls/request-body.ts'

/** Calls that may wait for one another. */
const MAX_NESTING = 8
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export type CallOperation = OperationCalls['call']

/** Operations that functions call, with the rights of whoever called the function. */
export class NestedCalls {
  readonly #callOperation: CallOperation

  constructor(deps: { callOperation: CallOperation }) {
    this.#callOperation = deps.callOperation
  }

  /** The argument is the name, a line break, and the body. The answer is the whole envelope. */
  async call(hostCall: HostCall): Promise<string> {
    const { call: caller, argument, signal } = hostCall
    if (!hostCall.function) throw new AppError('Forbidden', 'Ad-hoc code calls no operations')
    const nameEnd = argument.indexOf('\n')
    const operation = argument.slice(0, nameEnd)
    if (!NAME.test(operation)) throw notFound('Operation', operation.slice(0, 64))
    if (caller.depth >= MAX_NESTING) throw nestedTooDeep(operation)
    const { body } = await this.#callOperation({
      site: caller.site,
      operation,
      requestId: caller.requestId,
      authority: caller.authority,
      depth: caller.depth + 1,
      address: caller.address,
      signal,
      visitorSignal: undefined,
      body: argument.slice(nameEnd + 1) || NO_PAYLOAD,
    })
    return body
  }
}

const nestedTooDeep = (operation: string): AppError =>
  new AppError(
    'OperationNestedTooDeep',
    `Operation "${operation}" was not called: ${MAX_NESTING} calls wait for one another already, which is the limit`,
    {
      fields: {
        operation,
        limit: { name: 'nestedOperations', value: MAX_NESTING, used: MAX_NESTING + 1 },
      },
    },
  )
