import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import process from 'node:process'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { builtSandbox } from '#test/built-sandbox.ts'
import { TestSandbox, valueOf } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start({}, {}, await builtSandbox())
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const losses = (): number =>
  sandbox.hosts.status().hosts.reduce((sum, { restarts }) => sum + restarts, 0)

/** Resolves when so many calls have come that a spare is ready. */
async function withSpare(called: TestSandbox): Promise<void> {
  const program = called.program('export default () => 1')
  await vi.waitUntil(async () => {
    await called.call(program)
    return called.hosts.status().hosts.some(({ role, ready }) => role === 'spare' && ready)
  }, 10_000)
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('sandbox hosts', () => {
  test('are one at rest, and know how they are', async () => {
    await sandbox.run('export default () => 1')
    const status = sandbox.hosts.status()
    expect(status.hosts.map(({ role }) => role)).toEqual(['ordinary'])
    expect(status).toMatchObject({ ready: true, running: 0, queued: 0 })
    for (const host of status.hosts) expect(host.rssBytes).toBeGreaterThan(10_000_000)
    expect(status.warmIsolates).toBeGreaterThan(0)
  })

  test('have a spare beside them while calls come', async () => {
    await withSpare(sandbox)
    const [ordinary, spare] = sandbox.hosts.status().hosts
    process.kill(ordinary?.pid ?? 0, 'SIGKILL')
    const first = () => sandbox.hosts.status().hosts.find(({ role }) => role === 'ordinary')
    await vi.waitUntil(() => first()?.pid !== ordinary?.pid, 10_000)
    expect(first()).toMatchObject({ pid: spare?.pid, ready: true })
    expect(await sandbox.run('export default () => 1')).toMatchObject({ ok: true })
    await withSpare(sandbox)
  })

  test('are not replaced by a spare that was stopped', async () => {
    await withSpare(sandbox)
    const [ordinary, spare] = sandbox.hosts.status().hosts
    process.kill(spare?.pid ?? 0, 'SIGSTOP')
    process.kill(ordinary?.pid ?? 0, 'SIGKILL')
    const first = () => sandbox.hosts.status().hosts.find(({ role }) => role === 'ordinary')
    await vi.waitUntil(() => first()?.pid !== ordinary?.pid && first()?.ready === true, 10_000)
    expect(first()?.pid).not.toBe(spare?.pid)
    expect(await sandbox.run('export default () => 1')).toMatchObject({ ok: true })
    await vi.waitFor(() => expect(isAlive(spare?.pid ?? 0)).toBe(false), 10_000)
  })

  test('are at rest replaced by new ones, and then have a spare: what is lost once may be lost again', async () => {
    await using quiet = await TestSandbox.start({}, {}, await builtSandbox())
    const pid = quiet.hosts.status().hosts[0]?.pid ?? 0
    process.kill(pid, 'SIGKILL')
    await vi.waitUntil(() => !isAlive(pid), 10_000)
    expect(quiet.hosts.status().ready).toBe(true)
    expect(await quiet.run('export default () => 1')).toMatchObject({ ok: true })
    await vi.waitUntil(
      () => quiet.hosts.status().hosts.some(({ role }) => role === 'spare'),
      10_000,
    )
  })

  test('of which a spare does not fit into their memory are one', async () => {
    await using small = await TestSandbox.start({ memoryMb: 150 }, {}, await builtSandbox())
    const program = small.program('export default () => 1')
    for (let call = 0; call < 30; call += 1) {
      expect(await small.call(program)).toMatchObject({ ok: true })
    }
    expect(small.hosts.status().hosts.map(({ role }) => role)).toEqual(['ordinary'])
  })

  test('that are killed under a call interrupt it, and come back under another pid', async () => {
    await withSpare(sandbox)
    const before = sandbox.hosts.status().hosts.map((host) => host.pid)
    const lostBefore = losses()
    const program = sandbox.program(
      'export default ({ payload }) => payload ? 1 : new Promise(() => {})',
    )
    const { result, others } = await sandbox.beside(async () => {
      const waiting = sandbox.call(program, false)
      await vi.waitFor(() => expect(sandbox.hosts.status().suspended).toBeGreaterThan(0), 10_000)
      expect(valueOf(await sandbox.call(program, true))).toBe(1)
      for (const pid of before) process.kill(pid, 'SIGKILL')
      return waiting
    })
    expect(result).toMatchObject({ failure: { kind: 'interrupted', message: expect.any(String) } })
    for (const other of others)
      expect(other.ok || other.failure.kind).toSatisfy(
        (end) => end === true || end === 'interrupted',
      )
    // A call may still be given to a host that is ending.
    const again = async () =>
      expect(await sandbox.call(program, true)).toMatchObject({ result: '1' })
    await vi.waitFor(again, 10_000)
    await vi.waitFor(() => {
      const after = sandbox.hosts.status().hosts
      expect(after.filter((host) => before.includes(host.pid))).toEqual([])
      expect(losses()).toBe(lostBefore + before.length)
    }, 10_000)
  })

  test('that another program stopped are replaced, and what was inside is not blamed', async () => {
    const waiting = sandbox.run('export default () => new Promise(() => {})')
    await vi.waitFor(() => expect(sandbox.hosts.status().suspended).toBeGreaterThan(0), 10_000)
    // Those that were killed before may have come back while the call waited for one. What starts is not in its jail yet.
    const before = sandbox.hosts.status().hosts.flatMap(({ pid, ready }) => (ready ? [pid] : []))
    expect(before).not.toEqual([])
    for (const pid of before) process.kill(pid, 'SIGSTOP')
    expect(await waiting).toMatchObject({ failure: { kind: 'interrupted' } })
    await vi.waitFor(() => expect(before.filter(isAlive)).toEqual([]), 10_000)
    const again = async () =>
      expect(await sandbox.run('export default () => 1')).toMatchObject({ result: '1' })
    await vi.waitFor(again, 10_000)
  })

  test('that are killed again and again are always replaced', async () => {
    const program = sandbox.program('export default () => 1')
    for (let round = 0; round < 4; round += 1) {
      for (const { pid } of sandbox.hosts.status().hosts) {
        if (pid !== 0) process.kill(pid, 'SIGKILL')
      }
      await vi.waitFor(
        async () => expect(await sandbox.call(program)).toMatchObject({ ok: true }),
        10_000,
      )
    }
  })

  test('inherit nothing from the environment and keep no core file', async () => {
    // Those that were killed before may not all be back.
    const { pid } = await vi.waitUntil(
      () => sandbox.hosts.status().hosts.find(({ ready }) => ready),
      10_000,
    )
    const environ = await readFile(`/proc/${pid}/environ`, 'utf8')
    // What the walls set themselves; a shell among them adds its folder.
    const entries = environ.split('\0').filter((entry) => entry !== '' && !entry.startsWith('PWD='))
    expect(entries.toSorted()).toEqual(['LANG=C.UTF-8', 'TZ=UTC'])
    const limits = await readFile(`/proc/${pid}/limits`, 'utf8')
    expect(limits).toMatch(/Max core file size\s+0\s+0/)
  })

  test('end with the service, however it ends', async () => {
    const service = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', `${import.meta.dirname}/orphans.ts`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const [chunk] = (await once(service.stdout, 'data')) as [Buffer]
    const { pids, cacheDir } = JSON.parse(chunk.toString()) as { pids: number[]; cacheDir: string }
    expect(pids.filter(isAlive)).toEqual(pids)
    const command = await readFile(`/proc/${pids[0]}/cmdline`, 'utf8')
    const [folder = 'none'] = command.match(/\/[^=\0]*\/croft-run-\w+/) ?? []
    expect(existsSync(folder)).toBe(true)
    service.kill('SIGKILL')
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), 10_000)
    await rm(cacheDir, { recursive: true })
    // Only the next service was left to remove its folder.
    await using _next = await TestSandbox.start({}, {}, await builtSandbox())
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false), 10_000)
  })

  test('leave nothing behind when they are stopped', async () => {
    const own = await TestSandbox.start({}, {}, await builtSandbox())
    const pids = own.hosts.status().hosts.map((host) => host.pid)
    await own.run('export default () => 1')
    const waiting = own.run('export default () => new Promise(() => {})')
    await own[Symbol.asyncDispose]()
    expect(await waiting).toMatchObject({ failure: { kind: 'interrupted' } })
    expect(pids.filter(isAlive)).toEqual([])
    expect(await own.run('export default () => 1')).toMatchObject({
      failure: { kind: 'interrupted' },
    })
  })

  test('drop the isolates that were used least when more are warm than they may keep', async () => {
    await using small = await TestSandbox.start({ warmIsolates: 4 }, {}, await builtSandbox())
    const programs = Array.from({ length: 12 }, () => small.program('export default () => 1'))
    for (const program of programs) await small.call(program)
    expect(small.hosts.status().warmIsolates).toBeLessThanOrEqual(8)
    for (const program of programs) expect(await small.call(program)).toMatchObject({ ok: true })
  })

  test('replace an isolate that fills up before it has to be stopped', async () => {
    const program = sandbox.program(
      'const kept = []; export default () => { kept.push(new Array(30_000).fill(kept.length)); return kept.length }',
    )
    const counts: number[] = []
    for (let call = 0; call < 600; call += 1)
      counts.push(valueOf(await sandbox.call(program)) as number)
    expect(Math.max(...counts)).toBeLessThan(400)
  })

  test('stay small under a function that never loads', async () => {
    const program = sandbox.program('const big = new Array(50_000).fill(1); throw new Error("no")')
    for (let call = 0; call < 300; call += 1) {
      expect(await sandbox.call(program)).toMatchObject({ failure: { kind: 'invalidCode' } })
    }
  })

  test('are ended when they outgrow their memory, and the call that did it gets the error', async () => {
    await using small = await TestSandbox.start({ hostMemoryMb: 350 }, {}, await builtSandbox())
    const program = small.program(
      'export default () => { const big = []; for (;;) big.push(new Array(1e6).fill(1.5)) }',
      { fn: { memoryMb: 512 }, limits: { cpuMs: 20_000 } },
    )
    const { result, others } = await small.beside(() => small.call(program))
    expect(result).toMatchObject({ failure: { kind: 'limit', what: 'memoryMb' } })
    expect(others.filter((other) => !other.ok)).toEqual([])
  })

  test('have their memory together: over it the largest gives its place away, and no call is lost', async () => {
    await using crowd = await TestSandbox.start({ memoryMb: 480 }, {}, await builtSandbox())
    const hosts = () => crowd.hosts.status().hosts
    await withSpare(crowd)
    const before = hosts()
    const gate = Promise.withResolvers<string>()
    crowd.events.answer = () => gate.promise
    const program = crowd.program(
      `export default async (input, { operation }) => {
        const big = Array.from({ length: 4 }, () => new Array(1e6).fill(1.5))
        await operation('other')
        return big.length
      }`,
      { fn: { memoryMb: 512 }, limits: { cpuMs: 5000 } },
    )
    const { result, others } = await crowd.beside(async () => {
      const waiting = Array.from({ length: 10 }, () => crowd.call(program))
      // It still runs them, and its place is another's.
      const leaving = () =>
        hosts().find(({ pid, ready }) => !ready && before.some((was) => was.pid === pid))
      const left = await vi.waitUntil(leaving, 20_000)
      const next = hosts().find(({ role }) => role === left.role)
      expect(next).toMatchObject({ ready: true })
      expect(next?.pid).not.toBe(left.pid)
      expect(left.rssBytes).toBeGreaterThan(250 * 1024 * 1024)
      gate.resolve('{"ok":true,"data":null}')
      expect((await Promise.all(waiting)).map(valueOf)).toEqual(waiting.map(() => 4))
      await vi.waitFor(() => expect(isAlive(left.pid)).toBe(false), 10_000)
      return left
    })
    expect(others.filter((other) => !other.ok)).toEqual([])
    const { activity } = crowd.hosts.status()
    // On a busy machine its successor may have grown as far by now, and given its place away, too.
    expect(new Map(activity.replacements.entries()).get(result.role)).toBeGreaterThanOrEqual(1)
    expect([...activity.losses.entries()].map(([, count]) => count)).toEqual([0, 0, 0])
    expect(hosts().filter(({ restarts }) => restarts > 0)).toEqual([])
  })
})
