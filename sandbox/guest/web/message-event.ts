import { defineEvent, defineInitializer, setEventValue, text, usvText } from './event-kinds.ts'
import { forEach, freeze } from './primordials.ts'
import { sequence } from './webidl.ts'

let isPort = (_value: unknown): boolean => false

/** Called by message-port.ts, which builds on this file. */
export function provideMessagePorts(check: (value: unknown) => boolean): void {
  isPort = check
}

/** https://html.spec.whatwg.org/#messageevent */
const MessageEvent = defineEvent('MessageEvent', 1, {
  data: ({ data }) => (data === undefined ? null : data),
  origin: ({ origin }) => usvText(origin),
  lastEventId: ({ lastEventId }) => text(lastEventId),
  source: ({ source }) => {
    if (source === undefined || source === null) return null
    if (isPort(source)) return source
    throw new TypeError("Failed to construct 'MessageEvent': 'source' is not a MessagePort.")
  },
  ports: ({ ports }) => portList(ports),
})
defineInitializer(MessageEvent, 'initMessageEvent', [
  'data',
  'origin',
  'lastEventId',
  'source',
  'ports',
])

/** The event of a message that has arrived. */
export function messageArrived(
  data: unknown,
  ports: unknown[] = [],
): InstanceType<typeof MessageEvent> {
  const event = new MessageEvent('message', { data })
  setEventValue(MessageEvent, event, { name: 'ports', value: freeze(ports) })
  return event
}

function portList(value: unknown): readonly unknown[] {
  const ports = value === undefined ? [] : sequence(value, "Failed to construct 'MessageEvent'")
  forEach(ports, (port) => {
    if (!isPort(port))
      throw new TypeError("Failed to construct 'MessageEvent': 'ports' has what is no MessagePort.")
  })
  return freeze(ports)
}
