import { Event, eventState, initializeEvent } from './event.ts'
import { copyMember, defineAttributes, defineInterface, takeInternals } from './interface.ts'
import { create, floor, isFinite, mapGet, trunc } from './primordials.ts'
import { dictionary, isWebIdlObject, requireArguments, usvString } from './webidl.ts'

type Init = Readonly<Record<string, unknown>>
/** Each value as the init dictionary gives it. */
type Attributes = Readonly<Record<string, (init: Init) => unknown>>

interface KindInternals {
  valuesOf(value: unknown): Record<string, unknown> | undefined
  read(init: Init): Record<string, unknown>
}

const kinds = new Map<object, KindInternals>()

export const ErrorEvent = defineEvent('ErrorEvent', 1, {
  message: ({ message }) => text(message),
  filename: ({ filename }) => usvText(filename),
  lineno: ({ lineno }) => unsigned(lineno, 32),
  colno: ({ colno }) => unsigned(colno, 32),
  error: ({ error }) => error,
})
export const PromiseRejectionEvent = defineEvent('PromiseRejectionEvent', 2, {
  promise: (init) => {
    if ('promise' in init) return init['promise']
    throw new TypeError(
      "Failed to construct 'PromiseRejectionEvent': can not convert 'eventInitDict' to 'PromiseRejectionEventInit' because 'promise' is required in 'PromiseRejectionEventInit'.",
    )
  },
  reason: ({ reason }) => reason,
})
defineEvent('CloseEvent', 1, {
  wasClean: ({ wasClean }) => Boolean(wasClean),
  code: ({ code }) => unsigned(code, 16),
  reason: ({ reason }) => usvText(reason),
})
export const ProgressEvent = defineEvent('ProgressEvent', 1, {
  lengthComputable: ({ lengthComputable }) => Boolean(lengthComputable),
  loaded: ({ loaded }) => unsigned(loaded, 64),
  total: ({ total }) => unsigned(total, 64),
})
const CustomEvent = defineEvent('CustomEvent', 1, { detail: ({ detail }) => detail ?? null })
defineInitializer(CustomEvent, 'initCustomEvent', ['detail'])

/**
 * A class of events with attributes of its own, in the order of their names in the standard; they are read from the init
 * dictionary when an event is made.
 */
export function defineEvent(name: string, required: number, attributes: Attributes) {
  class SpecificEvent extends Event {
    readonly #values: Record<string, unknown>

    constructor(type: string, init?: unknown) {
      requireArguments(arguments.length, required, `Failed to construct '${name}'`)
      super(type, init)
      this.#values = read(dictionary(init, `Failed to construct '${name}'`))
    }

    static readonly valuesOf = (value: unknown): Record<string, unknown> | undefined => {
      return isWebIdlObject(value) && #values in value ? value.#values : undefined
    }

    static readonly read = (init: Init): Record<string, unknown> => read(init)
  }
  const names = Object.keys(attributes)
  const inOrder = names.toSorted()
  const read = (init: Init): Record<string, unknown> => {
    const values = create(null) as Record<string, unknown>
    for (let at = 0; at < inOrder.length; at += 1) {
      const key = inOrder[at] as string
      values[key] = attributes[key]?.(init)
    }
    return values
  }
  const internals = takeInternals(SpecificEvent)
  for (const key of names)
    defineAttributes(SpecificEvent, internals.valuesOf, { [key]: (values) => values[key] })
  defineInterface(name, SpecificEvent, required)
  kinds.set(SpecificEvent, internals)
  return SpecificEvent
}

/** The older way to fill an event in: type, bubbles, cancelable, and then its own members by place. */
export function defineInitializer(
  kind: ReturnType<typeof defineEvent>,
  method: string,
  members: readonly string[],
): void {
  const internals = kinds.get(kind)
  const names = [...members]
  copyMember(kind, method, {
    [method](this: unknown, ...given: unknown[]): void {
      const state = eventState(this)
      const values = internals?.valuesOf(this)
      if (internals === undefined || state === undefined || values === undefined)
        throw new TypeError('Illegal invocation')
      requireArguments(given.length, 1, `Failed to execute '${method}'`)
      const init = create(null) as Record<string, unknown>
      for (let at = 0; at < names.length; at += 1) init[names[at] as string] = given[3 + at]
      const next = internals.read(init)
      if (!initializeEvent(state, given)) return
      for (let at = 0; at < names.length; at += 1)
        values[names[at] as string] = next[names[at] as string]
    },
  })
  const shown: unknown = Object.getOwnPropertyDescriptor(kind.prototype, method)?.value
  Object.defineProperty(shown, 'length', { value: 1, configurable: true })
  Object.defineProperty(kind.prototype, method, { enumerable: true })
}

/** Sets a member of an event of the platform's own making, past its init dictionary. */
export function setEventValue(
  kind: ReturnType<typeof defineEvent>,
  event: Event,
  { name, value }: { readonly name: string; readonly value: unknown },
): void {
  const values = (mapGet(kinds, kind) as KindInternals | undefined)?.valuesOf(event)
  if (values !== undefined) values[name] = value
}

export const text = (value: unknown): string => (value === undefined ? '' : `${value as string}`)

export const usvText = (value: unknown): string => (value === undefined ? '' : usvString(value))

function unsigned(value: unknown, bits: number): number {
  const number = trunc(+((value ?? 0) as number))
  return isFinite(number) ? number - floor(number / 2 ** bits) * 2 ** bits : 0
}
