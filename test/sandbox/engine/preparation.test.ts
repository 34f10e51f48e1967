import { expect, test, vi } from 'vitest'

import type { FunctionSource } from '#platform/sandbox-host/sandbox.ts'

import { TestSandbox } from './harness.ts'

/** Code that takes a while to read; each its own, so that nothing is remembered of another. */
function longSource(lines: number, seed: number): FunctionSource {
  const body = Array.from(
    { length: lines },
    (_, at) => `export const v${seed}_${at}: number = ${at}`,
  )
  return { entry: 'main.ts', files: new Map([['main.ts', body.join('\n')]]) }
}

const LINES = 8_000
const WAIT = { timeout: 30_000, interval: 5 }
const ENDLESS = 'export default () => new Promise(() => {})'

test('preparing many sources at once gives each the time of its own', async () => {
  await using measured = await TestSandbox.start()
  await measured.hosts.prepare(longSource(LINES, 0))
  const startedAt = performance.now()
  await measured.hosts.prepare(longSource(LINES, 1))
  // Much more than one takes on a busy machine, and much less than all together.
  const prepareMs = Math.ceil(15 * (performance.now() - startedAt))
  await using sandbox = await TestSandbox.start({}, {}, { prepareMs })
  const sources = Array.from({ length: 50 }, (_, at) => longSource(LINES, at))
  const prepared = await Promise.all(sources.map((source) => sandbox.hosts.prepare(source)))
  expect(prepared.filter(({ ok }) => !ok)).toEqual([])
  expect(sandbox.hosts.status().hosts.map(({ restarts }) => restarts)).toEqual([0, 0])
})

test('a source that takes too long to read is refused, and no call is blamed for it', async () => {
  await using sandbox = await TestSandbox.start({}, { cpuMs: 20_000 }, { prepareMs: 20 })
  const busy = sandbox.program(`
    export default async () => { await fetch('https://x.test/').catch(() => {}); for (;;); }
  `)
  const asked = Promise.withResolvers<void>()
  sandbox.events.answer = async () => {
    asked.resolve()
    return 'null'
  }
  const running = sandbox.call(busy)
  await asked.promise
  const prepared = await sandbox.hosts.prepare(longSource(LINES, 0))
  expect(prepared).toMatchObject({ ok: false, fault: { message: /too long to read/ } })
  expect(await running).toMatchObject({ failure: { kind: 'interrupted' } })
})

test('a source whose host is lost over others’ calls is read by another one', async () => {
  await using sandbox = await TestSandbox.start({}, {}, { prepareMs: 100_000 })
  const preparing = sandbox.hosts.prepare(longSource(10 * LINES, 0))
  for (let loss = 0; loss < 2; loss += 1) {
    const hosts = await vi.waitUntil(() => {
      const { hosts: all } = sandbox.hosts.status()
      return all.every(({ pid, restarts }) => pid !== 0 && restarts === loss) && all
    }, WAIT)
    const inside = sandbox.run(ENDLESS)
    const compute = sandbox.hosts.compute({
      siteId: 'site_c',
      siteDomain: 'c.test',
      requestId: 'c',
      code: `module.exports = ${ENDLESS.replace('export default ', '')}`,
      payload: 'null',
      timeoutMs: 60_000,
      memoryMb: 64,
      limits: sandbox.program('').limits,
    })
    await vi.waitUntil(() => sandbox.hosts.status().running === 2, WAIT)
    for (const { pid } of hosts) process.kill(pid, 'SIGKILL')
    expect(await inside).toMatchObject({ failure: { kind: 'interrupted' } })
    expect(await compute).toMatchObject({ failure: { kind: 'interrupted' } })
  }
  expect(await preparing).toMatchObject({ ok: true })
})

test('nobody waits for hosts that are not started again', async () => {
  const sandbox = await TestSandbox.start()
  const { hosts } = sandbox.hosts.status()
  for (const { pid } of hosts) process.kill(pid, 'SIGKILL')
  await vi.waitUntil(() => !sandbox.hosts.status().ready, WAIT)
  const [preparing] = await Promise.allSettled([
    sandbox.hosts.prepare(longSource(1, 0)),
    sandbox[Symbol.asyncDispose](),
  ])
  expect(preparing).toMatchObject({ status: 'rejected', reason: { code: 'ServiceUnavailable' } })
})
