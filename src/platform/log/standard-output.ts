import { type DestinationStream, pino } from 'pino'

import type { Config } from '#config/config.ts'

import { SoonFlushed } from './soon-flushed.ts'
import { textLine } from './text-line.ts'

/**
 * Where a service logs: as text on a terminal, as the JSON lines that come in elsewhere, or as configured. Each line is written
 * at once to a terminal, and in blocks elsewhere: a write costs more than making the line. What is still in memory is written
 * when the process exits.
 */
export function standardOutput(config: Pick<Config, 'logFormat' | 'logColors'>): DestinationStream {
  const { isTTY } = process.stdout
  const output = isTTY
    ? pino.destination({ fd: 1, sync: true })
    : new SoonFlushed(pino.destination({ fd: 1, sync: false, minLength: 4096 }))
  if (logsJson(config)) return output
  const style = { colors: isTTY && config.logColors }
  return { write: (line) => void output.write(textLine(line, style)) }
}

/** Whether every line of the standard output is JSON. */
export const logsJson = ({ logFormat }: Pick<Config, 'logFormat'>): boolean =>
  logFormat === 'json' || (logFormat === 'auto' && !process.stdout.isTTY)
