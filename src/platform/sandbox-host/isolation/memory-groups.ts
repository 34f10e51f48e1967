import { randomBytes } from 'node:crypto'
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'

import { hasCode } from '#base/error-code.ts'
import { retry } from '#base/retry.ts'

const MOUNT = '/sys/fs/cgroup'
const PREFIX = 'croft-sandbox-'
/** The service looks every few milliseconds and ends a process by itself: only what grows between two looks meets this. */
const ABOVE = 1.5
/** The kernel releases a group a moment after the processes inside have ended. */
const REMOVAL = { attempts: 50, everyMs: 100 }
/** A line of `memory.events`, and of its older form: how many processes the kernel has ended. */
const OOM_KILLS = /^oom_kill (\d+)$/m

/** A control group of the kernel that bounds what the processes inside hold together. */
export interface MemoryGroup {
  readonly path: string
  /** Whether the kernel has ended a process for want of memory. */
  ranOut(): boolean
  /** Call it when the processes inside have ended. Never rejects. */
  remove(): Promise<void>
}

/** Control groups below this service's own, of either version of the kernel's interface. */
export class MemoryGroups {
  readonly #parent: string
  readonly #isLegacy: boolean

  private constructor(parent: string, isLegacy: boolean) {
    this.#parent = parent
    this.#isLegacy = isLegacy
  }

  /** Undefined where this service may not make groups, or they would not bound memory. */
  static find(): MemoryGroups | undefined {
    const own = ownGroups()
    const legacy = own.get('memory')
    const parent =
      legacy === undefined
        ? unifiedParents(own.get('') ?? '/').find(isWritable)
        : [join(MOUNT, 'memory', legacy)].find(isWritable)
    if (parent === undefined) return undefined
    removeAbandoned(parent)
    return new MemoryGroups(parent, legacy !== undefined)
  }

  make(memoryBytes: number): MemoryGroup {
    const path = join(this.#parent, `${PREFIX}${process.pid}-${randomBytes(6).toString('hex')}`)
    const [limit, events] = this.#isLegacy
      ? ['memory.limit_in_bytes', 'memory.oom_control']
      : ['memory.max', 'memory.events']
    mkdirSync(path)
    writeFileSync(join(path, limit), String(Math.ceil(memoryBytes * ABOVE)))
    return {
      path,
      ranOut: () => Number(OOM_KILLS.exec(read(join(path, events)))?.[1] ?? 0) > 0,
      remove: () => removeEmpty(path),
    }
  }
}

/** The group of this process in each hierarchy, by the controllers of that. */
function ownGroups(): Map<string, string> {
  const groups = new Map<string, string>()
  for (const line of read('/proc/self/cgroup').trim().split('\n')) {
    const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    for (const controller of controllers.split(',')) groups.set(controller, path)
  }
  return groups
}

/**
 * Groups that hand the bound of memory down to those below them. A group above the service's is one that was given to it
 * to divide, unless it is a slice, which holds others' services too.
 */
function unifiedParents(own: string): string[] {
  const above = dirname(own)
  const candidates = above === '/' || above.endsWith('.slice') ? [own] : [own, above]
  return candidates
    .map((group) => join(MOUNT, group))
    .filter((path) => read(join(path, 'cgroup.subtree_control')).split(/\s/).includes('memory'))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Groups of services that were killed. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(PREFIX))) {
    const pid = name.slice(PREFIX.length).split('-')[0]
    if (read(`/proc/${pid}/stat`) === '') void removeEmpty(join(parent, name))
  }
}

async function removeEmpty(path: string): Promise<void> {
  try {
    await retry(() => rmdir(path), {
      attempts: REMOVAL.attempts,
      isRetryable: (error) => hasCode(error, 'EBUSY'),
      delayMs: () => REMOVAL.everyMs,
    })
  } catch {
    // A later start removes it.
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
