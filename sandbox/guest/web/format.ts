import { CONSOLE_SETTINGS, type Settings } from './inspect-options.ts'
import { inspect } from './inspect.ts'
import { hasOwn, indexOf, jsonStringify, slice, toText, toWellFormed } from './primordials.ts'

const { parseInt: parseInteger, parseFloat: parseFloating } = Number

/** Characters of one console line. */
export const MAX_LINE = 65_536

/** The arguments of a console call as one line: `%s %d %i %f %j %o %O %c` in the first, the rest inspected. */
export function format(args: readonly unknown[], settings: Settings = CONSOLE_SETTINGS): string {
  const first = args[0]
  const { text, used } =
    typeof first === 'string' && args.length > 1
      ? substitute(first, args, settings)
      : { text: '', used: 0 }
  let line = text
  for (let index = used; index < args.length && line.length < MAX_LINE; index++)
    line += (index === 0 ? '' : ' ') + show(args[index], settings)
  const rest = line.length - MAX_LINE
  return toWellFormed(rest > 0 ? `${slice(line, 0, MAX_LINE)}... ${rest} more characters` : line)
}

const show = (value: unknown, settings: Settings): string =>
  typeof value === 'string' ? value : inspect(value, settings)

function substitute(
  template: string,
  args: readonly unknown[],
  settings: Settings,
): { text: string; used: number } {
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
    const shown = directive(verb, args[used], settings)
    if (shown === undefined) continue
    text += slice(template, copied, at) + shown
    copied = at + 2
    used++
  }
  return { text: text + slice(template, copied), used }
}

/** A symbol is no number, and has no text that could be one. */
const numeric =
  (parse: (text: string) => number) =>
  (value: unknown): string =>
    typeof value === 'symbol' ? 'NaN' : `${parse(toText(value))}`

const DIRECTIVES: Readonly<Record<string, (value: unknown, settings: Settings) => string>> = {
  s: toText,
  d: numeric(parseInteger),
  i: numeric(parseInteger),
  f: numeric(parseFloating),
  j: formatJson,
  o: inspect,
  O: inspect,
  c: () => '',
}

function directive(verb: string, value: unknown, settings: Settings): string | undefined {
  if (!hasOwn(DIRECTIVES, verb)) return undefined
  try {
    return DIRECTIVES[verb]?.(value, settings)
  } catch {
    return '[value that cannot be shown]'
  }
}

function formatJson(value: unknown): string {
  try {
    return jsonStringify(value) ?? 'undefined'
  } catch (error) {
    if (error instanceof TypeError) return '[Circular]'
    throw error
  }
}
