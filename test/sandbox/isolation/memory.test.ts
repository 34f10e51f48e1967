import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'vitest'

import type { IsolationLayer } from '#platform/sandbox-host/isolation/isolation-layers.ts'
import { MemoryGroups } from '#platform/sandbox-host/isolation/memory-groups.ts'
import { openSandboxJail } from '#platform/sandbox-host/sandbox-jail.ts'
import { startProcess } from '#platform/sandbox-host/start-process.ts'
import { builtSandbox } from '#test/built-sandbox.ts'
import { silentLog } from '#test/silent-log.ts'
import { SANDBOX_CONFIG } from '#test/test-sandbox.ts'

const MIB = 1024 * 1024
/** Where groups cannot be made no test can make them; the service says so. */
const missing = MemoryGroups.find() === undefined

/** How a process ends that takes 640 MB where it may have 128. */
async function hoard(without: readonly IsolationLayer[]) {
  const { cacheDir, entries } = await builtSandbox()
  const jail = await openSandboxJail({
    config: SANDBOX_CONFIG,
    logger: silentLog,
    cacheDir,
    without: new Set(without),
    ...(entries ? { entries } : {}),
  })
  const command = jail.command({
    entry: join(import.meta.dirname, 'escaped/hoard.ts'),
    view: { reads: [], writes: [] },
    memoryBytes: 128 * MIB,
  })
  const { child, endOf } = startProcess(command, 'pipe')
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code, signal] = await once(child, 'close')
  const ranOut = command.memory?.ranOut()
  await command.memory?.remove()
  const group = command.memory?.path
  return { ...endOf({ code, signal }), output, ranOut, isGone: !group || !existsSync(group) }
}

describe.skipIf(missing)(
  `the memory of a sandbox process${missing ? ' (no control group)' : ''}`,
  () => {
    let bounded: Awaited<ReturnType<typeof hoard>>
    beforeAll(async () => {
      bounded = await hoard([])
    })

    test('is bounded by the kernel, which says that it was', () => {
      expect(bounded).toEqual({
        code: null,
        signal: 'SIGKILL',
        output: '',
        ranOut: true,
        isGone: true,
      })
    })

    test('is not without that wall', async () => {
      expect(await hoard(['memory'])).toMatchObject({
        code: 0,
        output: 'held 40',
        ranOut: undefined,
      })
    })
  },
)
