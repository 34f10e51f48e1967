import { clockNow } from './clock.ts'
import { copyMember, defineAttributes, defineInterface, takeInternals } from './interface.ts'
import { defineProperty, isFinite } from './primordials.ts'
import { structuredClone } from './structured-clone.ts'
import { dictionary, isWebIdlObject, requireArguments } from './webidl.ts'

const CONSTRUCT = Symbol('construct')

export interface EntryState {
  readonly name: string
  readonly entryType: 'mark' | 'measure'
  readonly startTime: number
  readonly duration: number
  readonly detail: unknown
}

/** https://w3c.github.io/performance-timeline/#dom-performanceentry */
export class PerformanceEntry {
  readonly #state: EntryState

  constructor(key?: unknown, state?: EntryState) {
    if (key !== CONSTRUCT || state === undefined) throw new TypeError('Illegal constructor')
    this.#state = state
  }

  static readonly stateOf = (value: unknown): EntryState | undefined => {
    return isWebIdlObject(value) && #state in value ? value.#state : undefined
  }
}

/** https://w3c.github.io/user-timing/#performancemark */
export class PerformanceMark extends PerformanceEntry {
  constructor(name: string, options?: unknown) {
    requireArguments(arguments.length, 1, "Failed to construct 'PerformanceMark'")
    super(CONSTRUCT, markState(`${name}`, options))
  }
}

/** https://w3c.github.io/user-timing/#performancemeasure */
export class PerformanceMeasure extends PerformanceEntry {
  constructor(key?: unknown, state?: EntryState) {
    if (key !== CONSTRUCT) throw new TypeError('Illegal constructor')
    super(key, state)
  }
}

export const { stateOf: entryState } = takeInternals(PerformanceEntry)
defineAttributes(PerformanceEntry, entryState, {
  name: ({ name }) => name,
  entryType: ({ entryType }) => entryType,
  startTime: ({ startTime }) => startTime,
  duration: ({ duration }) => duration,
})
defineToJson(PerformanceEntry, ['name', 'entryType', 'startTime', 'duration'])
defineInterface('PerformanceEntry', PerformanceEntry)
for (const [name, kind, length] of [
  ['PerformanceMark', PerformanceMark, 1],
  ['PerformanceMeasure', PerformanceMeasure, 0],
] as const) {
  defineAttributes(kind, entryState, { detail: ({ detail }) => detail })
  defineToJson(kind, ['name', 'entryType', 'startTime', 'duration', 'detail'])
  defineInterface(name, kind, length)
}

export const createMeasure = (state: EntryState): PerformanceMeasure =>
  new PerformanceMeasure(CONSTRUCT, state)

/** A copy of what a mark or a measure is given to remember. */
export const copyOfDetail = (detail: unknown): unknown =>
  detail === undefined || detail === null ? null : structuredClone(detail)

function markState(name: string, options: unknown): EntryState {
  const { detail, startTime } = dictionary(options, "Failed to construct 'PerformanceMark'")
  const start = startTime === undefined ? clockNow() : +(startTime as number)
  if (!isFinite(start))
    throw new TypeError('Cannot construct PerformanceMark: startTime is not finite')
  if (start < 0)
    throw new TypeError('Cannot construct PerformanceMark: startTime cannot be negative')
  return { name, entryType: 'mark', startTime: start, duration: 0, detail: copyOfDetail(detail) }
}

function defineToJson(kind: Function & { prototype: object }, keys: readonly (keyof EntryState)[]) {
  const members = {
    toJSON(this: unknown): object {
      const state = entryState(this)
      if (state === undefined) throw new TypeError('Illegal invocation')
      const json = {}
      for (let at = 0; at < keys.length; at += 1) {
        const key = keys[at] as keyof EntryState
        defineProperty(json, key, {
          value: state[key],
          writable: true,
          enumerable: true,
          configurable: true,
        })
      }
      return json
    },
  }
  copyMember(kind, 'toJSON', members)
}
