import type { Settings } from './inspect-options.ts'
import { hasOwn, indexOf, slice } from './primordials.ts'

const ESCAPE = '\u001b['

/** The escape codes around a value of each kind, in the colours of Node and Deno. */
const STYLES = {
  special: [36, 39],
  number: [33, 39],
  bigint: [33, 39],
  boolean: [33, 39],
  undefined: [90, 39],
  null: [1, 22],
  string: [32, 39],
  symbol: [32, 39],
  date: [35, 39],
  regexp: [31, 39],
} as const
type Style = keyof typeof STYLES

export function stylize(settings: Settings, text: string, style: string): string {
  if (!settings.colors || !hasOwn(STYLES, style)) return text
  const codes = STYLES[style as Style]
  return `${ESCAPE}${codes[0]}m${text}${ESCAPE}${codes[1]}m`
}

/** Text without what colours it. */
export function withoutStyles(text: string): string {
  let plain = ''
  let from = 0
  for (let at = indexOf(text, ESCAPE); at !== -1; at = indexOf(text, ESCAPE, from)) {
    const end = indexOf(text, 'm', at)
    if (end === -1) break
    plain += slice(text, from, at)
    from = end + 1
  }
  return from === 0 ? text : plain + slice(text, from)
}
