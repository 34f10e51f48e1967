import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let site: RuntimeSite
/** Where code may compute for half a second only. */
let brief: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  // A busy machine must not end a run by its CPU time before it meets the limit that it is about.
  site = await withCpuMs('one.test', 20_000)
  brief = await withCpuMs('two.test', 500)
})
afterAll(() => stack[Symbol.asyncDispose]())

async function withCpuMs(host: string, cpuMs: number): Promise<RuntimeSite> {
  const { siteId } = await stack.context.sites.find(host)
  await stack.context.sites.update(siteId, { deploymentSettings: { limits: { cpuMs } } })
  return RuntimeSite.open(stack, host)
}

const execute = (body: object) => site.admin('POST', '/compute/execute', body)

describe('ad-hoc code', () => {
  test.each([
    ['module.exports', 'module.exports = async'],
    ['exports.handler', 'exports.handler ='],
    ['export default', 'export default'],
  ])('by %s gives its result, what it printed and its time', async (_what, exported) => {
    const code = `${exported} ({ payload }) => { console.log('hi'); return payload.a + 1 }`
    const answer = await execute({ code, payload: { a: 1 } })
    expect(answer).toMatchObject({
      status: 200,
      json: {
        ok: true,
        data: 2,
        logs: [{ level: 'info', message: 'hi' }],
        durationMs: expect.any(Number),
      },
    })
  })

  test('may print at its top level too', async () => {
    const code = `console.warn('loading'); module.exports = () => 1`
    const { logs } = (await execute({ code })).json
    expect(logs).toMatchObject([{ level: 'warn', message: 'loading' }])
  })

  test('that is never run answers in the same envelope', async () => {
    expect(await execute({ code: 'module.exports = () => 1', timeoutSeconds: 61 })).toMatchObject({
      status: 400,
      json: { ok: false, error: { code: 'ValidationError' } },
    })
  })

  test('starts afresh each time', async () => {
    const code =
      'globalThis.runs = (globalThis.runs ?? 0) + 1\nmodule.exports = () => globalThis.runs'
    expect((await execute({ code })).json.data).toBe(1)
    expect((await execute({ code })).json.data).toBe(1)
  })

  test.each([
    ['a fault of syntax', 'module.exports = () => {\n  const = 1\n}', 400, 'InvalidCode'],
    [
      'a throw',
      'module.exports = () => {\n  throw new TypeError("bad")\n}',
      422,
      'ExecutionFailed',
    ],
    ['no end', 'module.exports = () => { for (;;); }', 504, 'ExecutionTimeout'],
    ['a wait without end', 'module.exports = () => new Promise(() => {})', 504, 'ExecutionTimeout'],
    [
      'a hunger for memory',
      'module.exports = () => { const a = []; for (;;) a.push(new Array(1e4).fill(a.length)) }',
      507,
      'MemoryLimitExceeded',
    ],
    [
      'a cycle',
      'module.exports = () => { const a = {}; a.a = a; return a }',
      502,
      'InvalidOperationResult',
    ],
  ])(
    'that fails by %s says so in the envelope, with its logs',
    async (_what, code, status, error) => {
      const timeoutSeconds = error === 'MemoryLimitExceeded' ? 20 : 1
      const at = code.includes('for (;;);') ? brief : site
      const answer = await at.admin('POST', '/compute/execute', {
        code: `console.warn('first')\n${code}`,
        timeoutSeconds,
      })
      expect(answer).toMatchObject({
        status,
        json: { ok: false, error: { code: error }, durationMs: expect.any(Number) },
      })
      expect(Array.isArray(answer.json.logs)).toBe(true)
      expect(answer.json.error.message).not.toMatch(/not JSON.*not JSON/)
    },
  )

  test('that throws shows message, stack and line to its author', async () => {
    const code = 'module.exports = () => {\n  throw new TypeError("bad thing")\n}'
    const { json } = await execute({ code })
    expect(json.error).toMatchObject({
      code: 'ExecutionFailed',
      message: expect.stringContaining('bad thing'),
      stack: expect.any(String),
      line: 2,
    })
  })

  test.each([
    ['no code', {}, 'code'],
    ['code over 1 MiB', { code: `//${'x'.repeat(1024 * 1024)}` }, 'code'],
    ['no time', { code: 'x', timeoutSeconds: 0 }, 'timeoutSeconds'],
    ['too much time', { code: 'x', timeoutSeconds: 61 }, 'timeoutSeconds'],
    [
      'a payload without a bottom',
      { code: 'x', payload: JSON.parse('['.repeat(200) + ']'.repeat(200)) },
      'payload',
    ],
    ['an unknown field', { code: 'x', language: 'py' }, 'language'],
  ])('is refused with %s', async (_what, body, field) => {
    const answer = await execute(body)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.json.error.details[0].field).toBe(field)
  })

  test('leaves the site’s functions alone when it takes its host down', async () => {
    await site.publish('steady', 'export default () => "here"')
    const bomb =
      'module.exports = () => { const m = new Map(); for (let i = 0; ; i++) m.set(i, {}) }'
    const answer = await execute({ code: bomb, timeoutSeconds: 5 })
    expect(answer.status).toBeGreaterThanOrEqual(500)
    await expect
      .poll(async () => (await site.call('steady')).json, { timeout: 30_000 })
      .toEqual({ ok: true, data: 'here' })
  })
})
