import { readFileSync, readdirSync } from 'node:fs'

import { parseStat } from '#bench/cpu-clock.ts'
import { childrenOf } from '#test/process-table.ts'
import { sandboxProgram } from '#test/sandbox-processes.ts'

/** What an installation consists of, in the order in which it is printed. */
export const PARTS = [
  'service',
  'service: pool threads',
  'PostgreSQL',
  'sandbox hosts',
  'preparer',
  'other',
] as const
export type Part = (typeof PARTS)[number]

const TICKS_PER_SECOND = 100
const ENDED = new Set(['ENOENT', 'ESRCH'])

/** CPU seconds by part, with the processes that have ended and were waited for. Linux only. */
export function cpuByPart(servicePid: number): ReadonlyMap<Part, number> {
  const seconds = new Map<Part, number>(PARTS.map((part) => [part, 0]))
  const add = (part: Part, ticks: number) =>
    seconds.set(part, (seconds.get(part) ?? 0) + ticks / TICKS_PER_SECOND)
  const pool = threadTicks(servicePid, (name) => name.startsWith('Bun Pool'))
  add('service', ticksOf(`/proc/${servicePid}/stat`) - pool)
  add('service: pool threads', pool)
  for (const { pid, command } of childrenOf(servicePid)) {
    add(partOf(command), ticksOf(`/proc/${pid}/stat`))
  }
  return seconds
}

/** The part that a process below the service belongs to. */
function partOf(command: string): Part {
  if (/\bpostgres\b/.test(command)) return 'PostgreSQL'
  const program = sandboxProgram({ command })
  if (program === 'host') return 'sandbox hosts'
  return program === 'preparer' ? 'preparer' : 'other'
}

/** Each of the threads makes keys and reads files, apart from the event loop. */
function threadTicks(pid: number, isCounted: (name: string) => boolean): number {
  return readdirSync(`/proc/${pid}/task`).reduce((ticks, thread) => {
    const folder = `/proc/${pid}/task/${thread}`
    return isCounted(readText(`${folder}/comm`)) ? ticks + ownTicks(`${folder}/stat`) : ticks
  }, 0)
}

/** Without those of children, which each thread of a process has in its line. */
function ownTicks(file: string): number {
  const text = readText(file)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return text === '' ? 0 : Number(fields[11]) + Number(fields[12])
}

function ticksOf(file: string): number {
  const text = readText(file)
  return text === '' ? 0 : parseStat(text).ticks
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (ENDED.has(code)) return ''
    throw error
  }
}
