import { DOMException } from './dom-exception.ts'
import { defineHandler } from './event-handlers.ts'
import { EventTarget, fireEvent } from './event-target.ts'
import { host } from './host.ts'
import { defineInterface } from './interface.ts'
import { messageArrived } from './message-event.ts'
import { filter, forEach, push } from './primordials.ts'
import { cloneAndTransfer } from './structured-clone.ts'
import { requireArguments } from './webidl.ts'

const MAX_OPEN = 1000

interface Channel {
  readonly name: string
  readonly target: EventTarget
  closed: boolean
}

/** The open channels of this context: messages stay within it. */
let open: readonly Channel[] = []

/** https://html.spec.whatwg.org/#broadcastchannel */
class BroadcastChannel extends EventTarget {
  readonly #channel: Channel

  constructor(name: string) {
    requireArguments(arguments.length, 1, "Failed to construct 'BroadcastChannel'")
    super()
    this.#channel = { name: `${name}`, target: this, closed: false }
    if (open.length >= MAX_OPEN)
      throw new DOMException(
        `More than ${MAX_OPEN} channels are open: close them`,
        'QuotaExceededError',
      )
    const channels = filter(open, () => true)
    push(channels, this.#channel)
    open = channels
  }

  get name(): string {
    return this.#channel.name
  }

  postMessage(message: unknown): void {
    requireArguments(arguments.length, 1, "Failed to execute 'postMessage' on 'BroadcastChannel'")
    const from = this.#channel
    if (from.closed) throw new DOMException('Already closed', 'InvalidStateError')
    const { value } = cloneAndTransfer(message, [])
    forEach(open, (channel) => {
      if (channel === from || channel.name !== from.name) return
      const data = cloneAndTransfer(value, []).value
      host.setTimer(0, false, () => {
        if (!channel.closed) fireEvent(channel.target, messageArrived(data))
      })
    })
  }

  close(): void {
    const channel = this.#channel
    channel.closed = true
    open = filter(open, (other) => other !== channel)
  }
}

defineHandler(BroadcastChannel.prototype, 'message')
defineHandler(BroadcastChannel.prototype, 'messageerror')
defineInterface('BroadcastChannel', BroadcastChannel, 1)
