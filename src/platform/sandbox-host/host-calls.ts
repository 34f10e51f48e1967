import type { FromWorker } from '#sandbox/protocol.ts'

import type { Lane } from './lane.ts'
import type { HostCallName, SandboxEnvironment } from './sandbox.ts'

const NAMES: ReadonlySet<string> = new Set<HostCallName>(['fetch'])
const MESSAGE_LENGTH = 2000

/** What site code asks of the service: carried out above, answered through the worker that asked. */
export class HostCalls {
  readonly #environment: SandboxEnvironment
  readonly #answered: (lane: Lane) => void
  readonly #open = new Map<Lane, Map<number, AbortController>>()

  constructor(environment: SandboxEnvironment, answered: (lane: Lane) => void) {
    this.#environment = environment
    this.#answered = answered
  }

  start(lane: Lane, record: Extract<FromWorker, { kind: 'H' }>): void {
    const [hostCall, callId] = record.numbers
    const [name, argument] = record.texts
    const call = lane.live.get(callId)
    if (!call) return
    if (!isHostCallName(name)) {
      this.#answer(lane, hostCall, { ok: false, text: `The host has no call "${name}"` })
      return
    }
    const abort = new AbortController()
    const open = this.#open.get(lane) ?? new Map<number, AbortController>()
    this.#open.set(lane, open.set(hostCall, abort))
    const { program, definition, adHoc, operation, requestId } = call
    this.#environment
      .hostCall({
        siteId: program.siteId,
        programKey: program.key,
        functionId: adHoc ? null : definition.functionId,
        operation,
        requestId,
        name,
        argument,
        signal: abort.signal,
      })
      .then(
        (text) => this.#answer(lane, hostCall, { ok: true, text }),
        (error: unknown) => this.#answer(lane, hostCall, { ok: false, text: messageOf(error) }),
      )
  }

  /** Nobody waits for the answer any more. */
  abort(lane: Lane, hostCall: number): void {
    const open = this.#open.get(lane)
    open?.get(hostCall)?.abort()
    open?.delete(hostCall)
  }

  forgetLane(lane: Lane): void {
    for (const abort of this.#open.get(lane)?.values() ?? []) abort.abort()
    this.#open.delete(lane)
  }

  #answer(lane: Lane, hostCall: number, answer: { ok: boolean; text: string }): void {
    const open = this.#open.get(lane)
    if (answer.ok && !open?.has(hostCall)) return
    open?.delete(hostCall)
    lane.answer(hostCall, answer.ok, answer.text)
    this.#answered(lane)
  }
}

const isHostCallName = (name: string): name is HostCallName => NAMES.has(name)

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.slice(0, MESSAGE_LENGTH)
}
