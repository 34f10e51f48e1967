import { DOMException } from './dom-exception.ts'
import { report } from './global-events.ts'
import { host } from './host.ts'
import { defineInterface, defineLengths } from './interface.ts'
import type { EntryState, PerformanceEntry } from './performance-entries.ts'
import { entriesOf, observeEntries } from './performance-timeline.ts'
import { apply, filter, findIndex, forEach, freeze, map, push } from './primordials.ts'
import { dictionary, requireArguments, sequence } from './webidl.ts'

const CONSTRUCT = Symbol('construct')
const TYPES = freeze(['mark', 'measure'])
/** What may wait for an observer that is not called. */
const MAX_WAITING = 10_000

/** https://w3c.github.io/performance-timeline/#the-performanceobserver-interface */
class PerformanceObserver {
  readonly #callback: Function
  #kind: 'none' | 'one' | 'several' = 'none'
  #types: readonly string[] = []
  #waiting: PerformanceEntry[] = []
  #stop: (() => void) | undefined
  #scheduled = false

  constructor(callback: unknown) {
    requireArguments(arguments.length, 1, "Failed to construct 'PerformanceObserver'")
    if (typeof callback !== 'function')
      throw new TypeError("Failed to construct 'PerformanceObserver': the callback is no function")
    this.#callback = callback
  }

  static get supportedEntryTypes(): readonly string[] {
    return TYPES
  }

  observe(init?: unknown): void {
    const { kind, types, buffered } = observedTypes(dictionary(init, WHERE))
    if (this.#kind !== 'none' && this.#kind !== kind)
      throw new DOMException(
        `${WHERE}: 'type' and 'entryTypes' cannot be mixed`,
        'InvalidModificationError',
      )
    this.#kind = kind
    if (types.length === 0) return
    this.#types = kind === 'several' ? types : join(this.#types, types)
    if (buffered) forEach(entriesOf({ type: types[0] }), (entry) => this.#keep(entry))
    this.#stop ??= observeEntries((entry, state) => this.#hear(entry, state))
  }

  disconnect(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#types = []
    this.#waiting = []
    this.#kind = 'none'
  }

  takeRecords(): PerformanceEntry[] {
    const waiting = this.#waiting
    this.#waiting = []
    return waiting
  }

  #hear(entry: PerformanceEntry, { entryType }: EntryState): void {
    if (findIndex(this.#types, (type) => type === entryType) !== -1) this.#keep(entry)
  }

  #keep(entry: PerformanceEntry): void {
    if (this.#waiting.length >= MAX_WAITING) return
    push(this.#waiting, entry)
    if (this.#scheduled) return
    this.#scheduled = true
    host.setTimer(0, false, () => {
      this.#scheduled = false
      const entries = this.takeRecords()
      if (entries.length === 0) return
      const list = new PerformanceObserverEntryList(CONSTRUCT, entries)
      try {
        apply(this.#callback, this, [list, this, { droppedEntriesCount: 0 }])
      } catch (error) {
        report(error)
      }
    })
  }
}

/** https://w3c.github.io/performance-timeline/#performanceobserverentrylist-interface */
class PerformanceObserverEntryList {
  readonly #entries: readonly PerformanceEntry[]

  constructor(key?: unknown, entries: readonly PerformanceEntry[] = []) {
    if (key !== CONSTRUCT) throw new TypeError('Illegal constructor')
    this.#entries = entries
  }

  getEntries(): PerformanceEntry[] {
    return entriesOf({}, this.#entries)
  }

  getEntriesByType(type: string): PerformanceEntry[] {
    requireArguments(arguments.length, 1, "Failed to execute 'getEntriesByType'")
    return entriesOf({ type: `${type}` }, this.#entries)
  }

  getEntriesByName(name: string, type?: string): PerformanceEntry[] {
    requireArguments(arguments.length, 1, "Failed to execute 'getEntriesByName'")
    const wanted = type === undefined ? undefined : `${type}`
    return entriesOf({ name: `${name}`, type: wanted }, this.#entries)
  }
}

defineLengths(PerformanceObserver, { observe: 0 })
defineLengths(PerformanceObserverEntryList, { getEntriesByName: 1 })
defineInterface('PerformanceObserver', PerformanceObserver, 1)
defineInterface('PerformanceObserverEntryList', PerformanceObserverEntryList)

const WHERE = "Failed to execute 'observe' on 'PerformanceObserver'"

/** What is to be observed, without the types that there are none of. */
function observedTypes({ buffered, entryTypes, type }: Readonly<Record<string, unknown>>) {
  if ((entryTypes === undefined) === (type === undefined))
    throw new TypeError(`${WHERE}: give either 'entryTypes' or 'type'`)
  if (type !== undefined) {
    const types = filter([`${type as string}`], isKnown)
    return { kind: 'one', types, buffered: Boolean(buffered) } as const
  }
  const wanted = map(sequence(entryTypes, WHERE), (item) => `${item as string}`)
  return { kind: 'several', types: filter(wanted, isKnown), buffered: false } as const
}

const isKnown = (type: string): boolean => findIndex(TYPES, (known) => known === type) !== -1

function join(types: readonly string[], more: readonly string[]): readonly string[] {
  const joined = filter(types, () => true)
  forEach(more, (type) => {
    if (findIndex(joined, (known) => known === type) === -1) push(joined, type)
  })
  return joined
}
