import { execFile } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'

import { beforeAll, describe, expect, test } from 'vitest'

import {
  type IsolationLayer,
  type LayerState,
  ISOLATION_LAYERS,
} from '#platform/sandbox-host/isolation/isolation-layers.ts'
import { openSandboxJail } from '#platform/sandbox-host/sandbox-jail.ts'
import { builtSandbox } from '#test/built-sandbox.ts'
import { silentLog } from '#test/silent-log.ts'
import { SANDBOX_CONFIG } from '#test/test-sandbox.ts'
import { wallsMissing } from '#test/walls.ts'

const missing = wallsMissing()
const IS_ROOT = process.getuid?.() === 0
/** A machine may have no control group to give; another file tests those. */
const TRIED: readonly IsolationLayer[] = ISOLATION_LAYERS.filter((wall) => wall !== 'memory')
/** An account that every system has. */
const DAEMON = 1
const TIMEOUT_MS = 60_000
const BUBBLEWRAP: IsolationLayer[] = ['files', 'network', 'processes', 'syscalls']
/** What a sandbox process may do that has lost Node's own permissions alone. */
const READ = 'read a file in Node'

const OPEN_FILES = [
  'read the program of the service',
  'find a shell',
  'write elsewhere',
  'connect to a socket in a folder',
]
const OWN_FILES = ['read the master key', 'list the data folder']
const OPEN_KERNEL = [
  'start a program in Node',
  'make a netlink socket',
  'keep a key in the kernel',
  'use the ring of the kernel',
  'make a process',
  'be root of a namespace',
]
const NO_LIMITS = ['leave a core file', 'write a large file', 'open many files']
const HUNDREDS = 'make hundreds of processes'

interface Escape {
  readonly walls: readonly LayerState[]
  readonly stand: readonly IsolationLayer[]
  readonly attempts: readonly string[]
  readonly succeeded: readonly string[]
  readonly stderr: string
}

interface Row {
  /** Those that are taken away, besides Node's permissions: native code is not bound by them. */
  readonly without: readonly IsolationLayer[]
  readonly lets: readonly string[]
}

/** What a sandbox process that has been taken over succeeds in. */
async function escape(
  uid: number | undefined,
  without: readonly IsolationLayer[],
): Promise<Escape> {
  const file = join(import.meta.dirname, 'escape.ts')
  const words = ['--disable-warning=ExperimentalWarning', file, ...without]
  const options = { ...(uid === undefined ? {} : { uid, gid: uid }), timeout: TIMEOUT_MS }
  const { stdout } = await promisify(execFile)(process.execPath, words, options)
  return JSON.parse(stdout) as Escape
}

/** Throws when another wall is missing: then the row says nothing. */
async function succeededWithout(
  uid: number | undefined,
  without: readonly IsolationLayer[],
): Promise<readonly string[]> {
  const { stand, succeeded, stderr } = await escape(uid, ['permissions', ...without])
  const left = TRIED.filter((wall) => wall !== 'permissions' && !without.includes(wall))
  const own = uid === undefined ? left : left.filter((wall) => wall !== 'user')
  expect({ stand: stand.filter((wall) => TRIED.includes(wall)), stderr }).toEqual({
    stand: own,
    stderr: '',
  })
  return succeeded.toSorted()
}

/** Everything is refused behind all walls, and granted behind none: so each attempt is a real one. */
function testAll(uid: number | undefined, beyond: readonly string[]): void {
  let all: Escape
  beforeAll(async () => {
    all = await escape(uid, ISOLATION_LAYERS)
  })

  test('everything that it tries is refused in JavaScript', async () => {
    const { attempts, succeeded } = await escape(uid, [])
    expect({ attempts, succeeded }).toEqual({
      attempts: [READ, 'start a program in Node', 'become a program in Node'],
      succeeded: [],
    })
  })

  test('everything that it tries in native code is refused', async () => {
    expect(await succeededWithout(uid, [])).toEqual([READ])
  })

  test('nothing is refused without any wall', () => {
    const refused = all.attempts.filter((name) => !all.succeeded.includes(name))
    expect(refused).toEqual(beyond)
    expect(all.attempts).toHaveLength(28)
  })
}

describe.skipIf(missing)(`a sandbox process taken over${missing ? ` (${missing})` : ''}`, () => {
  describe.runIf(IS_ROOT)('of a service that is root', () => {
    testAll(undefined, [])

    test.each<Row>([
      { without: ['files'], lets: OPEN_FILES },
      {
        without: ['files', 'user'],
        lets: [...OPEN_FILES, ...OWN_FILES, 'read the passwords of the system', 'be root'],
      },
      { without: ['network'], lets: ['connect to an abstract socket'] },
      {
        without: ['network', 'syscalls'],
        lets: [...OPEN_KERNEL, 'connect to an abstract socket', 'connect to a port'],
      },
      { without: ['processes'], lets: ['see the service'] },
      {
        without: ['processes', 'user'],
        lets: ['see the service', 'signal the service', 'be root'],
      },
      { without: ['syscalls'], lets: OPEN_KERNEL },
      { without: ['user'], lets: ['be root'] },
      { without: ['limits'], lets: NO_LIMITS },
      { without: ['limits', 'syscalls'], lets: [...OPEN_KERNEL, ...NO_LIMITS, HUNDREDS] },
      {
        without: BUBBLEWRAP,
        lets: [
          ...OPEN_KERNEL,
          ...OPEN_FILES,
          'connect to an abstract socket',
          'connect to a port',
          'see the service',
        ],
      },
    ])('without $without succeeds in what only that refuses', async ({ without, lets }) => {
      expect(await succeededWithout(undefined, without)).toEqual([READ, ...lets].toSorted())
    })
  })

  describe('of a service that is not root', () => {
    const uid = IS_ROOT ? DAEMON : process.getuid?.()
    // Root's alone, whatever walls there are.
    testAll(uid, [
      'read the passwords of the system',
      'make a raw socket',
      'be root',
      'mount a file system',
    ])

    test.each<Row>([
      { without: ['files'], lets: [...OPEN_FILES, ...OWN_FILES] },
      { without: ['network'], lets: ['connect to an abstract socket'] },
      { without: ['processes'], lets: ['see the service', 'signal the service'] },
      { without: ['syscalls'], lets: [...OPEN_KERNEL, HUNDREDS] },
      { without: ['limits'], lets: NO_LIMITS },
      {
        without: ['network', 'syscalls'],
        lets: [...OPEN_KERNEL, HUNDREDS, 'connect to an abstract socket', 'connect to a port'],
      },
    ])('without $without succeeds in what only that refuses', async ({ without, lets }) => {
      expect(await succeededWithout(uid, without)).toEqual([READ, ...lets].toSorted())
    })
  })

  test('is what every host and the process that reads code could be: all of these layers exist', async () => {
    const { jail } = await builtSandbox()
    const own = IS_ROOT ? TRIED : TRIED.filter((wall) => wall !== 'user')
    expect(own.filter((wall) => jail?.has(wall) !== true)).toEqual([])
  })

  test.runIf(IS_ROOT)(
    'keeps the other walls where one cannot be put up, and that one has a reason',
    async () => {
      const { cacheDir, entries } = await builtSandbox()
      const jail = await openSandboxJail({
        // No user has this number: a process that asks to become it stays who it is.
        config: { ...SANDBOX_CONFIG, uid: 2 ** 32 - 1 },
        logger: silentLog,
        cacheDir,
        ...(entries ? { entries } : {}),
      })
      expect(TRIED.filter((wall) => !jail.has(wall))).toEqual(['user'])
      expect(jail.walls.find(({ wall }) => wall === 'user')).toEqual({
        wall: 'user',
        stands: false,
        needed: true,
        reason: 'Error: This is user 0, not 4294967295',
      })
    },
  )

  test('is not started at all where a layer of a jail is required that is missing', async () => {
    const { cacheDir, entries } = await builtSandbox()
    const open = (without: ReadonlySet<IsolationLayer>) =>
      openSandboxJail({
        config: { ...SANDBOX_CONFIG, require: 'jail' },
        logger: silentLog,
        cacheDir,
        without,
        ...(entries ? { entries } : {}),
      })
    await expect(open(new Set(['network']))).rejects.toThrow(
      /^CROFT_SANDBOX_REQUIRE=jail, but .* are missing:\n {2}- network: left out$/,
    )
    expect((await open(new Set(['limits']))).has('limits')).toBe(false)
  })
})
