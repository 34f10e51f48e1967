import { format, MAX_LINE } from './format.ts'
import { host, type PrintLevel } from './host.ts'
import { CONSOLE_SETTINGS, readSettings } from './inspect-options.ts'
import { performance } from './performance.ts'
import {
  apply,
  create,
  defineProperty,
  isArray,
  join,
  push,
  repeat,
  slice,
  split,
  toText,
} from './primordials.ts'
import { renderTable } from './table.ts'

type Printer = (...args: unknown[]) => void

const MAX_GROUP_INDENT = 40
const GROUP_INDENT = 2
const MAX_LABELS = 1000
/** Where the time that passed is shown with fewer digits. */
const DIGITS: readonly (readonly [below: number, digits: number])[] = [
  [1, 3],
  [10, 2],
  [100, 1],
]

/** Methods whose first argument is a label. */
const LABELLED = ['count', 'countReset', 'time', 'timeLog', 'timeEnd']

const counts = new Map<string, number>()
const started = new Map<string, number>()
let indent = 0
/** What `console.dir` cannot be told. */
const BOUNDS = { room: CONSOLE_SETTINGS.room, throws: false } as const

/** A namespace of its own kind, as the standard has it. */
const namespacePrototype = {}

/**
 * https://console.spec.whatwg.org, on the host's log, formatted as Deno does it. No method throws but what the label of a count or
 * a timer throws when it becomes text.
 */
export const console = create(namespacePrototype) as Readonly<Record<string, Printer>>

const methods: Readonly<Record<string, Printer>> = {
  log: printer('info'),
  debug: printer('debug'),
  info: printer('info'),
  dir: (value, options) => print('info', format([value], { ...readSettings(options), ...BOUNDS })),
  dirxml: printer('info'),
  warn: printer('warn'),
  error: printer('error'),
  assert: (condition, ...args) => {
    if (!condition) assertion(args)
  },
  count: (label) => {
    const key = labelOf(label)
    const count = (counts.get(key) ?? 0) + 1
    if (counts.size < MAX_LABELS || counts.has(key)) counts.set(key, count)
    // Not indented in a group, as Deno has it.
    host.print('info', `${key}: ${count}`)
  },
  countReset: (label) => {
    const key = labelOf(label)
    if (counts.has(key)) counts.set(key, 0)
    else print('warn', `Count for '${key}' does not exist`)
  },
  table: (data, columns) =>
    print('info', renderTable(data, isArray(columns) ? columns : undefined) ?? format([data])),
  time: (label) => {
    const key = labelOf(label)
    if (started.has(key)) print('warn', `Timer '${key}' already exists`)
    else if (started.size < MAX_LABELS) started.set(key, performance.now())
  },
  timeLog: (label, ...args) => elapsed(labelOf(label), args),
  timeEnd: (label) => {
    const key = labelOf(label)
    elapsed(key, [])
    started.delete(key)
  },
  group: openGroup,
  groupCollapsed: openGroup,
  groupEnd: () => {
    if (indent > 0) indent -= GROUP_INDENT
  },
  clear: () => {
    indent = 0
  },
  trace: (...args) =>
    print('debug', `Trace${args.length > 0 ? `: ${format(args)}` : ''}${frames()}`),
  profile: () => {},
  profileEnd: () => {},
  timeStamp: () => {},
}

for (const [name, method] of Object.entries(methods))
  defineProperty(console, name, {
    value: guarded(name, method),
    writable: true,
    configurable: true,
    enumerable: true,
  })
defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true })

/** A console that throws would turn a log line into a failure of the site. */
function guarded(name: string, method: Printer): Printer {
  const isLabelled = LABELLED.includes(name)
  const call: Printer = (...args) => {
    if (isLabelled && args[0] !== undefined) args[0] = toText(args[0])
    try {
      apply(method, undefined, args)
    } catch {
      host.print('error', `[console.${name}: a value that cannot be shown]`)
    }
  }
  defineProperty(call, 'name', { value: name, configurable: true })
  defineProperty(call, 'length', { value: 0, configurable: true })
  return call
}

function printer(level: PrintLevel): Printer {
  return (...args) => print(level, format(args))
}

function print(level: PrintLevel, text: string): void {
  const line = text.length > MAX_LINE ? `${slice(text, 0, MAX_LINE)}...` : text
  host.print(level, indent === 0 ? line : indented(line))
}

function indented(text: string): string {
  const margin = repeat(' ', indent > MAX_GROUP_INDENT ? MAX_GROUP_INDENT : indent)
  return margin + join(split(text, '\n'), `\n${margin}`)
}

function assertion(args: unknown[]): void {
  const [first, ...rest] = args
  if (typeof first === 'string') print('error', format([`Assertion failed: ${first}`, ...rest]))
  else
    print('error', args.length === 0 ? 'Assertion failed' : format(['Assertion failed:', ...args]))
}

function openGroup(...args: unknown[]): void {
  if (args.length > 0) print('info', format(args))
  indent += GROUP_INDENT
}

function elapsed(label: string, args: unknown[]): void {
  const start = started.get(label)
  if (start === undefined) {
    print('warn', `Timer '${label}' does not exist`)
    return
  }
  print('info', format([`${label}: ${milliseconds(performance.now() - start)}ms`, ...args]))
}

function milliseconds(passed: number): string {
  const digits = DIGITS.find(([below]) => passed < below)?.[1] ?? 0
  return passed.toFixed(digits)
}

const labelOf = (label: unknown): string =>
  label === undefined ? 'default' : slice(toText(label), 0, 200)

function frames(): string {
  const stack = new Error('trace').stack ?? ''
  const lines = split(stack, '\n')
  const kept: string[] = []
  for (let index = 4; index < lines.length; index++) push(kept, lines[index] ?? '')
  return kept.length === 0 ? '' : `\n${join(kept, '\n')}`
}
