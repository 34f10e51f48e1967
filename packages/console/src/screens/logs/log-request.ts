import type { LogLine } from './log-filter.ts'

/** What a request wrote, oldest first. */
export interface RequestLines {
  readonly lines: readonly LogLine[]
  /** In the order of their first lines. */
  readonly operations: readonly string[]
  /** From the first line to the last. */
  readonly spanMs: number
  /** The code of the error that ended it, if one did. */
  readonly failure: string | undefined
}

/** Takes lines newest first, as the service lists them. */
export function requestLinesOf(newest: readonly LogLine[]): RequestLines {
  const lines = newest.toReversed().toSorted(byTime)
  const operations = new Set(lines.flatMap(({ operation }) => operation ?? []))
  const failed = lines.findLast(({ kind }) => kind === 'failure')
  const code: unknown = Reflect.get(Object(failed?.fields), 'code')
  return {
    lines,
    operations: [...operations],
    spanMs: timeOf(lines.at(-1)) - timeOf(lines[0]),
    failure: failed && typeof code === 'string' ? code : undefined,
  }
}

export interface MessagePart {
  readonly text: string
  /** A place in the source of a function: `functions/notes.ts:12:7`. */
  readonly isPosition: boolean
}

const POSITION = /((?:[\w.@-]+[/\\])*[\w.@-]+\.(?:[cm]?[jt]sx?):\d+(?::\d+)?)/

/** Splits a message so that places in the source can be shown as such. */
export const messageParts = (message: string): readonly MessagePart[] =>
  message
    .split(POSITION)
    .map((text, index) => ({ text, isPosition: index % 2 === 1 }))
    .filter(({ text }) => text !== '')

/** An error is often written before what the code printed in the same millisecond, which came first. */
const byTime = (a: LogLine, b: LogLine): number =>
  timeOf(a) - timeOf(b) || Number(a.kind === 'failure') - Number(b.kind === 'failure')

const timeOf = (line: LogLine | undefined): number => (line ? Date.parse(line.at) : 0)
