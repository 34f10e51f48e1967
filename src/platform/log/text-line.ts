import { isJsonObject } from '#base/json-object.ts'
import { terminalJson, terminalText } from '#base/terminal-text.ts'

const RESET = '\u001B[0m'
const DIM = '\u001B[2m'
const COLORS: Readonly<Record<string, string>> = {
  trace: DIM,
  debug: DIM,
  info: '\u001B[32m',
  warn: '\u001B[33m',
  error: '\u001B[31m',
  fatal: '\u001B[31;1m',
}
const LEVEL_WIDTH = 5
/** A text that reads as one word, and as nothing else. */
const PLAIN = /^[^\s"'=\\{}[\]]+$/
const INDENT = '    '

export interface TextStyle {
  readonly colors: boolean
}

/**
 * The JSON line of a log as people read it: time of day, level, message, then every other field as `name=value`, and the stack of an
 * error below. Strangers choose some of its texts: none of them is more than text to a terminal, nor looks like a line of the log.
 */
export function textLine(line: string, style: TextStyle): string {
  const record: unknown = JSON.parse(line)
  if (!isJsonObject(record)) return line
  const { time, level, msg, pid: _pid, err, ...fields } = record
  const { stack, ...ofError } = isJsonObject(err) ? err : { stack: undefined, err }
  const words = Object.entries({ ...fields, ...(isJsonObject(err) ? prefixed(ofError) : ofError) })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${colored(`${oneLine(name)}=`, DIM, style)}${shown(value)}`)
  const name = String(level)
  const head = [
    colored(timeOfDay(String(time)), DIM, style),
    colored(name.toUpperCase().padEnd(LEVEL_WIDTH), COLORS[name] ?? '', style),
    ...(msg === undefined ? [] : [typeof msg === 'string' ? oneLine(msg) : shown(msg)]),
  ]
  const below = typeof stack === 'string' ? `\n${indented(terminalText(stack))}` : ''
  return `${[...head, ...words].join(' ')}${below}\n`
}

/** What an error carries beside its stack, which tells its type and message. */
function prefixed({ type: _type, message: _message, ...rest }: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [`err.${name}`, value]))
}

/** By this machine's clock: the reader of a terminal sits at it. */
function timeOfDay(time: string): string {
  const date = new Date(time)
  const of = (value: number, digits = 2) => String(value).padStart(digits, '0')
  const seconds = `${of(date.getSeconds())}.${of(date.getMilliseconds(), 3)}`
  return `${of(date.getHours())}:${of(date.getMinutes())}:${seconds}`
}

const shown = (value: unknown): string =>
  typeof value === 'string' && PLAIN.test(value) && oneLine(value) === value
    ? value
    : terminalJson(value)

/** With what a terminal would act on, and line breaks, as JSON has them. */
const oneLine = (text: string): string =>
  terminalJson(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')

const indented = (text: string): string => text.replaceAll(/^/gm, INDENT)

const colored = (text: string, color: string, { colors }: TextStyle): string =>
  colors && color !== '' ? `${color}${text}${RESET}` : text
