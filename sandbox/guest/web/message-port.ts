import { DOMException } from './dom-exception.ts'
import { defineHandler } from './event-handlers.ts'
import { EventTarget, fireEvent } from './event-target.ts'
import { Event } from './event.ts'
import { host } from './host.ts'
import { defineInterface, defineLengths, takeInternals } from './interface.ts'
import { messageArrived, provideMessagePorts } from './message-event.ts'
import { filter, findIndex, reflectGet } from './primordials.ts'
import { cloneAndTransfer, provideTransferable, transferList } from './structured-clone.ts'
import type { Received, Transfer } from './structured-clone.ts'
import { isWebIdlObject, requireArguments, sequence } from './webidl.ts'

const CONSTRUCT = Symbol('construct')
/** Messages that may wait in a port without a reader. */
const MAX_WAITING = 10_000

/** One end of a channel. The port object that stands for it may change: that is what transferring means. */
interface End {
  port: MessagePort | undefined
  other: End | undefined
  /** The first and the last message that wait. */
  first: Waiting | undefined
  last: Waiting | undefined
  waiting: number
  started: boolean
  /** Whether messages go on to the port in a later task. */
  scheduled: boolean
}

interface Waiting {
  readonly message: Received
  next: Waiting | undefined
}

/** https://html.spec.whatwg.org/#message-ports. A port keeps no call alive: it is as good as the call that waits for it. */
class MessagePort extends EventTarget {
  #end: End | undefined

  constructor(key?: symbol) {
    if (key !== CONSTRUCT) throw new TypeError('Illegal constructor')
    super()
  }

  postMessage(message: unknown, options?: unknown): void {
    const where = "Failed to execute 'postMessage' on 'MessagePort'"
    requireArguments(arguments.length, 1, where)
    const end = this.#end
    const list = isList(options) ? sequence(options, where) : transferList(options, where)
    if (findIndex(list, (item) => item === this) !== -1)
      throw new DOMException('Can not transfer self', 'DataCloneError')
    const doomed = findIndex(list, (item) => item === end?.other?.port) !== -1
    const received = cloneAndTransfer(message, list)
    if (end?.other !== undefined && !doomed) send(end.other, received)
  }

  start(): void {
    startReading(this.#end)
  }

  close(): void {
    const end = this.#end
    if (end === undefined) return
    this.#end = undefined
    end.port = undefined
    const { other } = end
    end.other = undefined
    if (other === undefined) return
    other.other = undefined
    host.setTimer(0, false, () => {
      if (other.port !== undefined) fireEvent(other.port, new Event('close'))
    })
  }

  static readonly endOf = (port: MessagePort): End | undefined => {
    return port.#end
  }

  static readonly isPort = (value: unknown): value is MessagePort => {
    return isWebIdlObject(value) && #end in value
  }

  static readonly attach = (port: MessagePort, end: End | undefined): void => {
    port.#end = end
  }
}

const { endOf, isPort, attach } = takeInternals(MessagePort)
defineLengths(MessagePort, { postMessage: 1 })
defineHandler(MessagePort.prototype, 'message', {
  changed: (port) => {
    if (isPort(port)) startReading(endOf(port))
  },
})
defineHandler(MessagePort.prototype, 'messageerror')
defineHandler(MessagePort.prototype, 'close')
defineInterface('MessagePort', MessagePort)
provideMessagePorts(isPort)
provideTransferable({ begin: beginTransfer })

/** https://html.spec.whatwg.org/#message-channels */
class MessageChannel {
  readonly #ports = entangled()

  get port1(): MessagePort {
    return this.#ports[0]
  }

  get port2(): MessagePort {
    return this.#ports[1]
  }
}

defineInterface('MessageChannel', MessageChannel)

function entangled(): readonly [MessagePort, MessagePort] {
  const ports = [new MessagePort(CONSTRUCT), new MessagePort(CONSTRUCT)] as const
  const first = newEnd(ports[0])
  const second = newEnd(ports[1])
  first.other = second
  second.other = first
  attach(ports[0], first)
  attach(ports[1], second)
  return ports
}

const newEnd = (port: MessagePort): End => ({
  port,
  other: undefined,
  first: undefined,
  last: undefined,
  waiting: 0,
  started: false,
  scheduled: false,
})

function isList(options: unknown): boolean {
  return isWebIdlObject(options) && typeof reflectGet(options, Symbol.iterator) === 'function'
}

function send(end: End, message: Received): void {
  if (end.waiting >= MAX_WAITING)
    throw new DOMException(
      `More than ${MAX_WAITING} messages wait in a port: read them first`,
      'QuotaExceededError',
    )
  const waiting: Waiting = { message, next: undefined }
  if (end.last === undefined) end.first = waiting
  else end.last.next = waiting
  end.last = waiting
  end.waiting += 1
  schedule(end)
}

function startReading(end: End | undefined): void {
  if (end === undefined) return
  end.started = true
  schedule(end)
}

/** Each message is a task of its own. */
function schedule(end: End): void {
  if (end.scheduled || !end.started || end.first === undefined) return
  end.scheduled = true
  host.setTimer(0, false, () => {
    end.scheduled = false
    const waiting = end.first
    if (waiting === undefined || end.port === undefined || !end.started) return
    end.first = waiting.next
    if (end.first === undefined) end.last = undefined
    end.waiting -= 1
    schedule(end)
    const { value, transferred } = waiting.message
    fireEvent(end.port, messageArrived(value, filter(transferred, isPort)))
  })
}

function beginTransfer(value: object): Transfer | undefined {
  if (!isPort(value)) return undefined
  const end = endOf(value)
  if (end === undefined)
    throw new DOMException('The MessagePort is closed or transferred', 'DataCloneError')
  const received = new MessagePort(CONSTRUCT)
  return {
    received,
    commit: () => {
      attach(value, undefined)
      attach(received, end)
      end.port = received
      end.started = false
    },
  }
}
