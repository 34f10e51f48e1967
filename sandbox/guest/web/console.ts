import { format } from './format.ts'
import { host, type PrintLevel } from './host.ts'
import { inspect } from './inspect.ts'
import { apply, defineProperty, isArray, join, push, repeat, slice, split } from './primordials.ts'
import { renderTable } from './table.ts'

type Printer = (...args: unknown[]) => void

const MAX_GROUP_INDENT = 40
const GROUP_INDENT = 2
const MAX_LABELS = 1000

const counts = new Map<string, number>()
const started = new Map<string, number>()
let indent = 0

/** https://console.spec.whatwg.org, on the host's log. No method throws. */
export const console: Readonly<Record<string, Printer>> = {}

const methods: Readonly<Record<string, Printer>> = {
  log: printer('info'),
  info: printer('info'),
  debug: printer('debug'),
  warn: printer('warn'),
  error: printer('error'),
  dirxml: printer('info'),
  trace: (...args) =>
    print('debug', `Trace${args.length > 0 ? `: ${format(args)}` : ''}${frames()}`),
  dir: (value) => print('info', inspect(value)),
  assert: (condition, ...args) => {
    if (!condition) assertion(args)
  },
  table: (data, columns) =>
    print('info', renderTable(data, isArray(columns) ? columns : undefined) ?? format([data])),
  count: (label) => {
    const key = labelOf(label)
    const count = (counts.get(key) ?? 0) + 1
    if (counts.size < MAX_LABELS || counts.has(key)) counts.set(key, count)
    print('info', `${key}: ${count}`)
  },
  countReset: (label) => {
    const key = labelOf(label)
    if (!counts.delete(key)) print('warn', `Count for '${key}' does not exist`)
  },
  time: (label) => {
    const key = labelOf(label)
    if (started.has(key)) print('warn', `Label '${key}' already exists for console.time()`)
    else if (started.size < MAX_LABELS) started.set(key, host.now())
  },
  timeLog: (label, ...args) => elapsed('timeLog', labelOf(label), args),
  timeEnd: (label) => {
    const key = labelOf(label)
    elapsed('timeEnd', key, [])
    started.delete(key)
  },
  group: openGroup,
  groupCollapsed: openGroup,
  groupEnd: () => {
    if (indent > 0) indent -= GROUP_INDENT
  },
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
  const call: Printer = (...args) => {
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
  host.print(level, indent === 0 ? text : indented(text))
}

function indented(text: string): string {
  const margin = repeat(' ', indent > MAX_GROUP_INDENT ? MAX_GROUP_INDENT : indent)
  return margin + join(split(text, '\n'), `\n${margin}`)
}

function assertion(args: unknown[]): void {
  const [first, ...rest] = args
  if (typeof first === 'string') print('error', format([`Assertion failed: ${first}`, ...rest]))
  else
    print('error', args.length === 0 ? 'Assertion failed' : format(['Assertion failed', ...args]))
}

function openGroup(...args: unknown[]): void {
  if (args.length > 0) print('info', format(args))
  indent += GROUP_INDENT
}

function elapsed(method: string, label: string, args: unknown[]): void {
  const start = started.get(label)
  if (start === undefined) {
    print('warn', `No such label '${label}' for console.${method}()`)
    return
  }
  print('info', format([`${label}: ${host.now() - start}ms`, ...args]))
}

const labelOf = (label: unknown): string =>
  label === undefined ? 'default' : slice(`${label as string}`, 0, 200)

function frames(): string {
  const stack = new Error('trace').stack ?? ''
  const lines = split(stack, '\n')
  const kept: string[] = []
  for (let index = 4; index < lines.length; index++) push(kept, lines[index] ?? '')
  return kept.length === 0 ? '' : `\n${join(kept, '\n')}`
}
