import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { ComputeJob } from '#platform/sandbox-host/sandbox.ts'
import { LIMITS, TestSandbox } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const compute = (code: string, job: Partial<ComputeJob> = {}) =>
  sandbox.hosts.compute({
    siteId: 'site_c',
    siteDomain: 'c.test',
    requestId: 'req_c',
    code,
    payload: '{"n":41}',
    timeoutMs: 300,
    memoryMb: 64,
    limits: LIMITS,
    ...job,
  })

describe('ad-hoc code', () => {
  test.each([
    ['module.exports', 'module.exports = async ({ payload }) => payload.n + 1'],
    ['exports.handler', 'exports.handler = async ({ payload }) => payload.n + 1'],
    ['an ES module', 'export default ({ payload }) => payload.n + 1'],
    [
      'a call that needs a part of the platform',
      'export default () => Number(new URLPattern({ pathname: "/:n" }).exec("http://c.test/42").pathname.groups.n)',
    ],
    ['TypeScript', 'const one: number = 1; module.exports = ({ payload }) => payload.n + one'],
    [
      'TypeScript with an enum',
      'enum A { one = 1 }\nmodule.exports = ({ payload }: any) => payload.n + A.one',
    ],
  ])('of the form %s runs', async (_what, code) => {
    expect(await compute(code)).toMatchObject({ ok: true, result: '42', logs: [] })
  })

  test('gives its lines with its outcome, and nowhere else', async () => {
    const outcome = await compute(
      'console.log("outside"); module.exports = async () => { await 0; console.warn("inside"); throw new Error("end") }',
    )
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'thrown', message: 'end', stack: expect.stringContaining('compute.js:1') },
      logs: [
        { level: 'info', message: 'outside', requestId: 'req_c' },
        { level: 'warn', message: 'inside', requestId: 'req_c' },
      ],
    })
    expect(sandbox.events.lines).toEqual([])
  })

  test('remembers nothing of the run before', async () => {
    const code =
      'globalThis.count = (globalThis.count ?? 0) + 1; module.exports = () => globalThis.count'
    for (let run = 0; run < 3; run += 1) expect(await compute(code)).toMatchObject({ result: '1' })
  })

  test.each([
    [
      'a syntax error',
      'module.exports = {',
      { kind: 'invalidCode', fault: { path: 'compute.js', line: 2 } },
    ],
    [
      'a syntax error in TypeScript',
      'const a: number = 1\nmodule.exports = {{',
      { kind: 'invalidCode', fault: { path: 'compute.ts', line: 2 } },
    ],
    ['nothing to call', 'const a = 1', { kind: 'invalidCode' }],
    ['an infinite loop', 'module.exports = () => { for (;;); }', { kind: 'limit', what: 'cpuMs' }],
    ['an infinite loop at the top level', 'for (;;);', { kind: 'limit', what: 'cpuMs' }],
    [
      'an infinite loop that breaks out of its wrapper',
      '}); for (;;); (() => {',
      { kind: 'limit', what: 'cpuMs' },
    ],
    [
      'a promise that never settles',
      'module.exports = () => new Promise(() => {})',
      { kind: 'limit', what: 'timeoutMs' },
    ],
    [
      'a memory bomb',
      'module.exports = () => { const all = []; for (;;) all.push(new Array(10_000).fill(7)) }',
      { kind: 'limit', what: 'memoryMb' },
    ],
    ['a thrown number', 'module.exports = () => { throw 42 }', { kind: 'thrown', message: '42' }],
    [
      'an oversized result',
      'module.exports = () => "x".repeat(1e6)',
      { kind: 'limit', what: 'resultBytes' },
    ],
  ])('with %s ends by its own failure', async (what, code, failure) => {
    // What is about another limit than time has plenty of it, on a busy machine too.
    const isLong = ['a memory bomb', 'an oversized result'].includes(what)
    const limits = isLong ? { ...LIMITS, cpuMs: 5000 } : LIMITS
    const timeoutMs = isLong ? 10_000 : 300
    const { result, others } = await sandbox.beside(() => compute(code, { limits, timeoutMs }))
    expect(result).toMatchObject({ ok: false, failure })
    expect(others.filter((other) => !other.ok)).toEqual([])
  })

  test('leaves no isolate behind', async () => {
    for (let run = 0; run < 30; run += 1) await compute('module.exports = () => 1')
    const { warmIsolates } = sandbox.hosts.status()
    expect(warmIsolates).toBeLessThan(20)
  })
})
