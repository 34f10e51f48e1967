import { readdirSync, readFileSync } from 'node:fs'

import { cpuMs } from '#platform/sandbox-host/process-usage.ts'

const MAPPING = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ (\d+)\s*(.*)$/
const FIELD = /^(Rss|Pss|Anonymous|Pss_Anon|Pss_Shmem):\s+(\d+) kB$/

/** What a process holds, in KiB: `files` has its resident pages of each mapped file. */
export interface MemoryReading {
  readonly pssKb: number
  readonly anonymousKb: number
  readonly sharedKb: number
  readonly files: ReadonlyMap<string, number>
}

export interface CpuReading {
  readonly ms: number
  readonly wakeups: ReadonlyMap<string, number>
}

/** Undefined for a process that has ended. */
export function readMemory(pid: number): MemoryReading | undefined {
  const smaps = read(`/proc/${pid}/smaps`)
  const rollup = fieldsOf(read(`/proc/${pid}/smaps_rollup`))
  const { Pss: pssKb, Pss_Anon: anonymousKb = 0, Pss_Shmem: sharedKb = 0 } = rollup
  return pssKb === undefined
    ? undefined
    : { pssKb, anonymousKb, sharedKb, files: parseFiles(smaps) }
}

/** The clean pages of each file in smaps of proc_pid_smaps(5). */
export function parseFiles(smaps: string): Map<string, number> {
  const files = new Map<string, number>()
  for (const { path, Rss = 0, Anonymous = 0 } of mappingsOf(smaps)) {
    if (path !== undefined) files.set(path, (files.get(path) ?? 0) + Rss - Anonymous)
  }
  return files
}

/**
 * The share of each process where no other program maps the same files: PSS counts a page that programs outside share
 * for less. Pages of a file are taken to be the same ones in each process.
 */
export function sharesAlone(readings: ReadonlyMap<number, MemoryReading>): Map<number, number> {
  const sums = new Map<string, { readonly all: number; readonly most: number }>()
  for (const { files } of readings.values()) {
    for (const [path, kb] of files) {
      const { all, most } = sums.get(path) ?? { all: 0, most: 0 }
      sums.set(path, { all: all + kb, most: Math.max(most, kb) })
    }
  }
  const shareOf = ({ anonymousKb, sharedKb, files }: MemoryReading): number => {
    let kb = anonymousKb + sharedKb
    for (const [path, own] of files) {
      const { all = 0, most = 0 } = sums.get(path) ?? {}
      if (all > 0) kb += (own / all) * most
    }
    return kb
  }
  return new Map(Array.from(readings, ([pid, reading]) => [pid, shareOf(reading)]))
}

/** Processor time of all its threads, and the voluntary switches of each that lives. */
export function readCpu(pid: number): CpuReading {
  const wakeups = new Map<string, number>()
  for (const thread of threadsOf(pid)) {
    const status = read(`/proc/${pid}/task/${thread}/status`)
    wakeups.set(thread, Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(status)?.[1] ?? 0))
  }
  return { ms: cpuMs(pid) ?? 0, wakeups }
}

/** Voluntary switches since an earlier reading, of the threads that lived then and do now. */
export function wakeupsSince(before: CpuReading | undefined, { wakeups }: CpuReading): number {
  let count = 0
  for (const [thread, switches] of wakeups) {
    count += switches - (before?.wakeups.get(thread) ?? switches)
  }
  return count
}

function* mappingsOf(smaps: string) {
  let path: string | undefined
  let fields: { Rss?: number; Anonymous?: number } = {}
  for (const line of smaps.split('\n')) {
    const [, inode, name] = MAPPING.exec(line) ?? []
    if (inode === undefined) {
      Object.assign(fields, fieldsOf(line))
      continue
    }
    yield { path, ...fields }
    path = inode !== '0' && !isMemory(name) ? name : undefined
    fields = {}
  }
  yield { path, ...fields }
}

/** Shared memory has inodes, too, and is counted by itself. */
const isMemory = (name = ''): boolean => name.startsWith('/dev/') || name.startsWith('/SYSV')

function fieldsOf(text: string): Record<string, number> {
  const found = text.split('\n').flatMap((line) => {
    const [, name, kb] = FIELD.exec(line) ?? []
    return name === undefined ? [] : [[name, Number(kb)]]
  })
  return Object.fromEntries(found)
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    // It has ended.
    return []
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has ended.
    return ''
  }
}
