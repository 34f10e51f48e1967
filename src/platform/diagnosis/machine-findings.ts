import { readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'

import type { SandboxConfig } from '#config/config.ts'
import type { WatchedDisks } from '#platform/disk/disk-room.ts'

import { type Finding, Findings, megabytes } from './finding.ts'

const MIB = 2 ** 20
/** Every connection of a visitor, of the database and of a sandbox is one. */
const LEAST_FILES = 4096
/** What the service itself, and an embedded database, take beside the sandbox. */
const BESIDE_MB = 512
/** Above the reserve, as a multiple of it: time enough for an operator to make room. */
const CLOSE = 2

export function examineDisks(disk: Pick<WatchedDisks, 'disks'>): readonly Finding[] {
  const findings = new Findings('disk')
  for (const { place, path, freeBytes, totalBytes, reserveBytes, isFull } of disk.disks) {
    const free = `"${path}" (${place}) has ${megabytes(freeBytes)} of ${megabytes(totalBytes)} left`
    if (isFull) {
      findings.problem(
        `${free}, less than its reserve of ${megabytes(reserveBytes)}: writes are refused`,
        'Make room; the service goes on by itself',
      )
    } else if (freeBytes < reserveBytes * CLOSE) {
      findings.warning(
        `${free}; below ${megabytes(reserveBytes)} writes are refused`,
        'Make room, or give it a larger disk',
      )
    } else findings.ok(free)
  }
  return findings.all
}

/** What the system lets this process have. */
export async function examineLimits(sandbox: SandboxConfig): Promise<readonly Finding[]> {
  const findings = new Findings('limits')
  // Systems without it have no other way to tell.
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  judgeFiles(findings, openFilesIn(limits))
  const limit = process.constrainedMemory()
  judgeMemory(findings, limit > 0 ? Math.min(limit, totalmem()) : totalmem(), sandbox)
  return findings.all
}

/** The soft limit, which counts. */
export function openFilesIn(limits: string): number | undefined {
  const [, files] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? []
  if (files === undefined) return undefined
  return files === 'unlimited' ? Infinity : Number(files)
}

export function judgeFiles(findings: Findings, files: number | undefined): void {
  if (files === undefined) return
  if (files >= LEAST_FILES) findings.ok(`${files} files may be open`)
  else {
    findings.warning(
      `only ${files} files may be open`,
      `Raise it to ${LEAST_FILES} or more: each connection is one (LimitNOFILE= of systemd, "ulimit -n")`,
    )
  }
}

export function judgeMemory(
  findings: Findings,
  machineBytes: number,
  { hosts, hostMemoryMb, memoryMb }: Pick<SandboxConfig, 'hosts' | 'hostMemoryMb' | 'memoryMb'>,
): void {
  const machineMb = Math.floor(machineBytes / MIB)
  const most = Math.min(memoryMb, hosts * hostMemoryMb)
  const says = `site code may use ${most} MB of ${machineMb} MB of memory`
  if (most + BESIDE_MB <= machineMb) findings.ok(says)
  else {
    findings.warning(
      says,
      `Lower CROFT_SANDBOX_MEMORY_MB, or the system ends the service when it runs out: it takes ${BESIDE_MB} MB itself`,
    )
  }
}
