import { type ConsoleLanguage, localeOf } from './languages.ts'

type MessageValue = string | number
export type MessageValues = Readonly<Record<string, MessageValue>>

/**
 * Fills in a text in the part of ICU's MessageFormat that the console uses: `{name}`, `{count, plural, one {# row} other {# rows}}` and
 * `{role, select, admin {…} other {…}}`. There is no quoting: texts have no braces of their own.
 */
export const formatMessage = (
  text: string,
  values: MessageValues,
  language: ConsoleLanguage,
): string => format(text, { values, language, count: undefined })

interface Context {
  readonly values: MessageValues
  readonly language: ConsoleLanguage
  /** What `#` means. */
  readonly count: number | undefined
}

function format(text: string, context: Context): string {
  let result = ''
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('{', at)
    if (open < 0) return result + plain(text.slice(at), context)
    const close = closingBrace(text, open)
    result += plain(text.slice(at, open), context) + argument(text.slice(open + 1, close), context)
    at = close + 1
  }
  return result
}

const plain = (text: string, { count, language }: Context): string =>
  count === undefined ? text : text.replaceAll('#', written(count, language))

const written = (value: MessageValue, language: ConsoleLanguage): string =>
  typeof value === 'number' ? new Intl.NumberFormat(localeOf(language)).format(value) : value

/** `name`, or `name, plural, one {…} other {…}` */
function argument(source: string, context: Context): string {
  const [, name = '', kind, options = ''] =
    /^\s*(\w+)\s*(?:,\s*(plural|select)\s*,(.*))?$/s.exec(source) ?? []
  const value = context.values[name]
  if (value === undefined) throw new Error(`A text needs the value "${name}"`)
  if (kind === undefined) return written(value, context.language)
  const choices = choicesOf(options)
  return kind === 'select' ? selected(choices, value, context) : plural(choices, value, context)
}

const selected = (choices: Choices, value: string | number, context: Context): string =>
  format(choices.get(String(value)) ?? choices.get('other') ?? '', context)

function plural(choices: Choices, value: string | number, context: Context): string {
  const count = Number(value)
  const category = new Intl.PluralRules(localeOf(context.language)).select(count)
  const choice = choices.get(`=${count}`) ?? choices.get(category) ?? choices.get('other') ?? ''
  return format(choice, { ...context, count })
}

/** By category or value. */
type Choices = ReadonlyMap<string, string>

function choicesOf(source: string): Choices {
  const choices = new Map<string, string>()
  let at = 0
  for (let open = source.indexOf('{'); open >= 0; open = source.indexOf('{', at)) {
    const close = closingBrace(source, open)
    choices.set(source.slice(at, open).trim(), source.slice(open + 1, close))
    at = close + 1
  }
  return choices
}

function closingBrace(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return at
  }
  throw new Error(`A text has an open brace: ${text}`)
}
