import { AppError, notFound } from '#base/app-error.ts'
import type { Call } from '#platform/sandbox-host/call.ts'
import type { HostCall } from '#platform/sandbox-host/sandbox.ts'
import type { OperationCalls } from '#runtime/calls/operation-calls.ts'
import { NO_PAYLOAD } from '#runtime/calls/request-body.ts'

/** Calls that may wait for one another. */
const MAX_NESTING = 8
/** Calls that one call from outside has set off, however deep, and that are not over. */
const MAX_OPEN = 256
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export type CallOperation = OperationCalls['call']

/** Operations that functions call, with the rights of the function's caller. */
export class NestedCalls {
  readonly #callOperation: CallOperation
  /** By the call from outside that set them off. */
  readonly #open = new WeakMap<Call, number>()

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
    const root = caller.root ?? caller
    return this.#counted(root, operation, async () => {
      const { body } = await this.#callOperation({
        site: caller.site,
        operation,
        requestId: caller.requestId,
        authority: caller.authority,
        depth: caller.depth + 1,
        root,
        caller,
        address: caller.address,
        signal: caller.signal ? AbortSignal.any([signal, caller.signal]) : signal,
        visitorSignal: undefined,
        body: argument.slice(nameEnd + 1) || NO_PAYLOAD,
      })
      return body
    })
  }

  async #counted(root: Call, operation: string, run: () => Promise<string>): Promise<string> {
    const open = this.#open.get(root) ?? 0
    if (open >= MAX_OPEN) throw tooManyOpen(operation)
    this.#open.set(root, open + 1)
    try {
      return await run()
    } finally {
      this.#open.set(root, (this.#open.get(root) ?? 1) - 1)
    }
  }
}

const tooManyOpen = (operation: string): AppError =>
  new AppError(
    'OperationOverloaded',
    `Operation "${operation}" was not called: ${MAX_OPEN} calls that one call has set off are not over yet, which is the limit. Await some of them first`,
    {
      fields: {
        operation,
        limit: { name: 'openNestedOperations', value: MAX_OPEN, used: MAX_OPEN + 1 },
      },
    },
  )

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
