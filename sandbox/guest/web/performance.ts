import { clockNow, clockOrigin } from './clock.ts'
import { DOMException } from './dom-exception.ts'
import { EventTarget } from './event-target.ts'
import { defineInterface, defineLengths } from './interface.ts'
import { createMeasure, copyOfDetail, PerformanceMark } from './performance-entries.ts'
import type { PerformanceEntry, PerformanceMeasure } from './performance-entries.ts'
import { addEntry, entriesOf, markTime, removeEntries } from './performance-timeline.ts'
import { defineProperty, findIndex } from './primordials.ts'
import { isWebIdlObject, requireArguments } from './webidl.ts'

const CONSTRUCT = Symbol('construct')

type Options = Readonly<Record<'start' | 'end' | 'duration' | 'detail', unknown>>

/** https://w3c.github.io/hr-time/#sec-performance with user timing; no resource is ever timed. */
class Performance extends EventTarget {
  readonly #brand = true

  constructor(key?: symbol) {
    if (key !== CONSTRUCT) throw new TypeError('Illegal constructor')
    super()
  }

  get timeOrigin(): number {
    void this.#brand
    return clockOrigin()
  }

  now(): number {
    void this.#brand
    return clockNow()
  }

  mark(name: string, options?: unknown): PerformanceMark {
    void this.#brand
    requireArguments(arguments.length, 1, "Failed to execute 'mark' on 'Performance'")
    const mark = new PerformanceMark(name, options)
    addEntry(mark)
    return mark
  }

  measure(name: string, startOrOptions?: unknown, endMark?: string): PerformanceMeasure {
    void this.#brand
    requireArguments(arguments.length, 1, "Failed to execute 'measure' on 'Performance'")
    const options = measureOptions(startOrOptions, endMark)
    const title = `${name}`
    const end = endOf(options)
    const startTime = startOf(options, end)
    const measure = createMeasure({
      name: title,
      entryType: 'measure',
      startTime,
      duration: end - startTime,
      detail: copyOfDetail(options.detail),
    })
    addEntry(measure)
    return measure
  }

  clearMarks(name?: string): void {
    void this.#brand
    removeEntries({ type: 'mark', name: optionalText(name) })
  }

  clearMeasures(name?: string): void {
    void this.#brand
    removeEntries({ type: 'measure', name: optionalText(name) })
  }

  clearResourceTimings(): void {
    void this.#brand
  }

  setResourceTimingBufferSize(_size: number): void {
    void this.#brand
    requireArguments(
      arguments.length,
      1,
      "Failed to execute 'setResourceTimingBufferSize' on 'Performance'",
    )
  }

  getEntries(): PerformanceEntry[] {
    void this.#brand
    return entriesOf({})
  }

  getEntriesByType(type: string): PerformanceEntry[] {
    void this.#brand
    requireArguments(arguments.length, 1, "Failed to execute 'getEntriesByType' on 'Performance'")
    return entriesOf({ type: `${type}` })
  }

  getEntriesByName(name: string, type?: string): PerformanceEntry[] {
    void this.#brand
    requireArguments(arguments.length, 1, "Failed to execute 'getEntriesByName' on 'Performance'")
    return entriesOf({ name: `${name}`, type: optionalText(type) })
  }

  toJSON(): object {
    void this.#brand
    const json = {}
    const value = clockOrigin()
    defineProperty(json, 'timeOrigin', {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
    return json
  }
}

defineLengths(Performance, {
  mark: 1,
  measure: 1,
  clearMarks: 0,
  clearMeasures: 0,
  getEntriesByName: 1,
})
defineInterface('Performance', Performance)

export const performance = new Performance(CONSTRUCT)

const optionalText = (value: unknown): string | undefined =>
  value === undefined ? undefined : `${value as string}`

const NO_OPTIONS: Options = {
  start: undefined,
  end: undefined,
  duration: undefined,
  detail: undefined,
}

/** The two ways to call `measure` as one; a mark is a text and a time is a number. */
function measureOptions(startOrOptions: unknown, endMark: unknown): Options {
  const end = optionalText(endMark)
  if (startOrOptions === undefined || startOrOptions === null) return { ...NO_OPTIONS, end }
  if (!isWebIdlObject(startOrOptions))
    return { ...NO_OPTIONS, start: `${startOrOptions as string}`, end }
  const given = startOrOptions as Options
  const { detail, duration, end: until, start } = given
  const isGiven = (item: unknown): boolean => item !== undefined
  if (findIndex([detail, duration, until, start], isGiven) === -1) return { ...NO_OPTIONS, end }
  if (end !== undefined) throw invalid('options and an end mark cannot both be given')
  requireTwo({ detail, duration, end: until, start })
  return { detail, duration, end: until, start }
}

/** Two of the three say when it was. */
function requireTwo({ start, end, duration }: Options): void {
  if (start === undefined && end === undefined) throw invalid("'start' or 'end' must be given")
  if (start !== undefined && end !== undefined && duration !== undefined)
    throw invalid("'start', 'end' and 'duration' cannot all be given")
}

function endOf({ start, end, duration }: Options): number {
  if (end !== undefined) return timeOf(end)
  if (start !== undefined && duration !== undefined) return timeOf(start) + timeOf(duration)
  return clockNow()
}

function startOf({ start, duration }: Options, end: number): number {
  if (start !== undefined) return timeOf(start)
  return duration === undefined ? 0 : end - timeOf(duration)
}

function timeOf(markOrTime: unknown): number {
  if (typeof markOrTime === 'number') {
    if (markOrTime >= 0 && markOrTime < Infinity) return markOrTime
    throw new TypeError(`Failed to execute 'measure' on 'Performance': ${markOrTime} is no time`)
  }
  const name = `${markOrTime as string}`
  const time = markTime(name)
  if (time === undefined) throw new DOMException(`Cannot find mark: "${name}"`, 'SyntaxError')
  return time
}

const invalid = (what: string): TypeError =>
  new TypeError(`Failed to execute 'measure' on 'Performance': ${what}`)
