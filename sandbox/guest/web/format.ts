import { formatNumber } from './inspect-text.ts'
import { inspect } from './inspect.ts'
import { hasOwn, indexOf, slice, jsonStringify, trunc } from './primordials.ts'

/** Characters of one console line. */
const MAX_LINE = 65_536

/** The arguments of a console call as one line: `%s %d %i %f %j %o %O %c` in the first, the rest inspected. */
export function format(args: readonly unknown[]): string {
  const first = args[0]
  const { text, used } =
    typeof first === 'string' && args.length > 1 ? substitute(first, args) : { text: '', used: 0 }
  let line = text
  for (let index = used; index < args.length && line.length < MAX_LINE; index++)
    line += (index === 0 ? '' : ' ') + show(args[index])
  const rest = line.length - MAX_LINE
  return rest > 0 ? `${slice(line, 0, MAX_LINE)}... ${rest} more characters` : line
}

const show = (value: unknown, depth?: number): string =>
  typeof value === 'string' ? value : inspect(value, depth)

function substitute(template: string, args: readonly unknown[]): { text: string; used: number } {
  let text = ''
  let used = 1
  let copied = 0
  for (let at = indexOf(template, '%'); at !== -1; at = indexOf(template, '%', at + 2)) {
    const verb = slice(template, at + 1, at + 2)
    if (verb === '%') {
      text += slice(template, copied, at + 1)
      copied = at + 2
      continue
    }
    if (used >= args.length) continue
    const shown = directive(verb, args[used])
    if (shown === undefined) continue
    text += slice(template, copied, at) + shown
    copied = at + 2
    used++
  }
  return { text: text + slice(template, copied), used }
}

const DIRECTIVES: Readonly<Record<string, (value: unknown) => string>> = {
  s: (value) => show(value, 0),
  d: (value) => numeric(value, Number),
  i: (value) => numeric(value, (number) => trunc(Number.parseFloat(`${number as string}`))),
  f: (value) =>
    typeof value === 'symbol' ? 'NaN' : formatNumber(Number.parseFloat(`${value as string}`)),
  j: formatJson,
  o: (value) => inspect(value, 4),
  O: (value) => inspect(value),
  c: () => '',
}

function directive(verb: string, value: unknown): string | undefined {
  if (!hasOwn(DIRECTIVES, verb)) return undefined
  try {
    return DIRECTIVES[verb]?.(value)
  } catch {
    return '[value that cannot be shown]'
  }
}

function numeric(value: unknown, convert: (value: unknown) => number): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'symbol' || typeof value === 'object') return 'NaN'
  return formatNumber(convert(value))
}

function formatJson(value: unknown): string {
  try {
    return jsonStringify(value) ?? 'undefined'
  } catch (error) {
    if (error instanceof TypeError) return '[Circular]'
    throw error
  }
}
