import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { HostCommand } from '#platform/sandbox-host/host-command.ts'
import { firstInside } from '#platform/sandbox-host/inner-process.ts'
import { endOrphanedJails, jailsOf } from '#platform/sandbox-host/isolation/orphaned-jails.ts'
import { openSandboxJail } from '#platform/sandbox-host/sandbox-jail.ts'
import { startProcess } from '#platform/sandbox-host/start-process.ts'
import { builtSandbox } from '#test/built-sandbox.ts'
import { silentLog } from '#test/silent-log.ts'
import { SANDBOX_CONFIG } from '#test/test-sandbox.ts'
import { wallsMissing } from '#test/walls.ts'

const missing = wallsMissing()
const JAILS = 20
const START_MS = 5000

let folder: string
const folders: string[] = []
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'croft-jails-'))))
afterAll(async () => {
  for (const cacheDir of folders) await endOrphanedJails(cacheDir)
  await rm(folder, { recursive: true, force: true })
})

/** How a process is started that waits behind walls, as one of the service with that folder. */
async function jailed(name: string): Promise<{ cacheDir: string; command: HostCommand }> {
  const cacheDir = join(folder, name)
  folders.push(cacheDir)
  const { entries } = await builtSandbox()
  const jail = await openSandboxJail({
    config: SANDBOX_CONFIG,
    logger: silentLog,
    cacheDir,
    ...(entries ? { entries } : {}),
  })
  const entry = join(import.meta.dirname, 'escaped/wait.ts')
  return { cacheDir, command: jail.command({ entry, view: { reads: [], writes: [] } }) }
}

/** Starts one that no service looks after. */
const startAlone = ({ file, args, env }: HostCommand): ChildProcess =>
  spawn(file, [...args], { env: { ...env }, detached: true, stdio: ['pipe', 'ignore', 'ignore'] })

/** Kills bubblewrap's outer process as soon as there is an inner one, which waits for it then. */
async function killOuter(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  const pid = child.pid ?? 0
  const until = performance.now() + START_MS
  while (firstInside(pid) === undefined && performance.now() < until);
  process.kill(pid, 'SIGKILL')
  await ended
}

describe.skipIf(missing)('a jail whose outer process is killed while it starts', () => {
  test('leaves no process', async () => {
    const { cacheDir, command } = await jailed('ended')
    for (let count = 0; count < JAILS; count += 1) {
      await killOuter(startProcess(command, 'ignore').child)
    }
    await expect.poll(() => jailsOf(cacheDir)).toEqual([])
  })

  test('leaves none where all are killed at once', async () => {
    const { cacheDir, command } = await jailed('at-once')
    const started = Array.from({ length: JAILS }, () => startProcess(command, 'ignore').child)
    const ended = started.map((child) => once(child, 'exit'))
    for (const { pid = 0 } of started) process.kill(pid, 'SIGKILL')
    await Promise.all(ended)
    await expect.poll(() => jailsOf(cacheDir)).toEqual([])
  })

  test('is ended by the next start of its service, and by no other', async () => {
    const { cacheDir, command } = await jailed('left')
    const other = await jailed('left-2')
    for (const each of [command, command, other.command]) await killOuter(startAlone(each))
    const left = jailsOf(cacheDir)
    expect(left).toHaveLength(2)
    const starting = startAlone(command)
    const ended = once(starting, 'exit')
    const pids = await endOrphanedJails(cacheDir)
    expect(pids).toEqual(expect.arrayContaining([...left, starting.pid]))
    await ended
    expect(jailsOf(cacheDir)).toEqual([])
    expect(jailsOf(other.cacheDir)).toHaveLength(1)
  })
})
