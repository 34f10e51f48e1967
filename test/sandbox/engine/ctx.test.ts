import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { AppError } from '#base/app-error.ts'
import type { HostCall } from '#platform/sandbox-host/sandbox.ts'
import { TestSandbox, valueOf } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
beforeEach(() => {
  sandbox.events.hostCalls.length = 0
  sandbox.events.answer = async ({ argument }) => JSON.stringify({ asked: argument })
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const asked = (): HostCall[] => sandbox.events.hostCalls
const never = () => new Promise<string>(() => {})

describe('ctx', () => {
  test('asks with the rights of its own call, whatever else runs', async () => {
    const program = sandbox.program(`
      export default async ({ payload }, { table }) => {
        await new Promise((go) => setTimeout(go, payload % 7))
        const notes = table('notes')
        await notes.get({ key: { id: payload } })
        await new Promise((go) => setTimeout(go, 1))
        return JSON.parse((await notes.get({ key: { id: payload } })).asked).input.key.id
      }`)
    const payloads = Array.from({ length: 40 }, (_, n) => n)
    const outcomes = await Promise.all(payloads.map((payload) => sandbox.call(program, payload)))
    expect(outcomes.map(valueOf)).toEqual(payloads)
    const byRequest = Map.groupBy(asked(), ({ call }) => call.requestId)
    expect(byRequest.size).toBe(40)
    for (const [first, second] of byRequest.values()) {
      expect(second?.argument).toBe(first?.argument)
      expect(first).toMatchObject({
        function: { functionId: 'main' },
        call: { authority: null, depth: 0 },
      })
    }
  })

  test('costs nothing to those who do not use it, and can be taken apart', async () => {
    const outcome = await sandbox.run(`
      export default async (input, ctx) => {
        const { table, bucket, operation, sendEmail, env, log } = ctx
        return [Object.keys(ctx), [table, bucket, operation, sendEmail, log].map((one) => typeof one), ctx.table === table,
          await operation('other', { a: 1 }), (await sendEmail({ to: 'x' })).asked]
      }`)
    sandbox.events.answer = async () => '{"ok":true,"data":null}'
    expect(valueOf(outcome)).toEqual([
      [],
      Array.from({ length: 5 }, () => 'function'),
      true,
      null,
      '{"to":"x"}',
    ])
  })

  test.each([
    [
      'a refusal with all it says',
      'get',
      { code: 'ConditionalCheckFailed', statusCode: 409, item: { id: 1 } },
    ],
  ])('rejects with %s', async (_what, method, expected) => {
    sandbox.events.answer = async () => {
      throw new AppError('ConditionalCheckFailed', 'The conditional request failed', {
        fields: { item: { id: 1 }, name: 'no', message: 'no', stack: 'no' },
      })
    }
    const outcome = await sandbox.run(`
      export default async (input, { table }) => {
        try { await table('notes').${method}({}) } catch (error) {
          const { name, code, statusCode, item, message, stack } = error
          return { name, code, statusCode, item, message, stack, is: error instanceof Error, text: String(error) }
        }
      }`)
    expect(valueOf(outcome)).toMatchObject({
      ...expected,
      name: expected.code,
      message: 'The conditional request failed',
      text: 'ConditionalCheckFailed: The conditional request failed',
      is: true,
      stack: expect.stringMatching(
        /^ConditionalCheckFailed: The conditional request failed\n\s+at .*main\.js:3/,
      ),
    })
  })

  test('is over with its call', async () => {
    const program = sandbox.program(`
      let kept
      export default async ({ payload }, ctx) => {
        if (payload === 'keep') { kept = ctx; return }
        return kept?.operation('staff').then(() => 'asked', (error) => error.code)
      }`)
    // On a busy machine one call may be given to another isolate than the next.
    const keepAndUse = async () => {
      await sandbox.call(program, 'keep')
      return valueOf(await sandbox.call(program, 'use'))
    }
    expect(await vi.waitUntil(async () => (await keepAndUse()) ?? false, 10_000)).toBe('CallOver')
    expect(asked()).toEqual([])
  })

  test('ends what it still asks for with its call', async () => {
    const aborted: string[] = []
    sandbox.events.answer = ({ name, signal }) => {
      signal.addEventListener('abort', () => aborted.push(name))
      return never()
    }
    await sandbox.run(`export default (input, { table, operation }) => {
      table('a').get({}).catch(() => {}); operation('b').catch(() => {})
    }`)
    await expect.poll(() => aborted.toSorted()).toEqual(['operation', 'table'])
  })
})

describe('hostile site code', () => {
  test('finds no way to make a context, or to touch what others are given', async () => {
    const outcome = await sandbox.run(
      `
      export default async (input, ctx) => {
        const found = []
        for (const made of [ctx, ctx.table('a'), ctx.bucket('b')]) {
          const proto = Object.getPrototypeOf(made)
          found.push(Object.hasOwn(proto, 'constructor'), Object.isFrozen(proto), made.constructor === Object)
        }
        const error = await ctx.table('').catch?.(() => {}) ?? 'sync'
        return { found, error }
      }`.replace(
        "await ctx.table('').catch?.(() => {}) ?? 'sync'",
        "(() => { try { ctx.table('') } catch (thrown) { return thrown.name } })()",
      ),
    )
    expect(valueOf(outcome)).toEqual({
      found: [false, true, true, false, true, true, false, true, true],
      error: 'TypeError',
    })
  })

  test('that has replaced every built-in still asks for what it was given, and gets the true answer', async () => {
    const outcome = await sandbox.run(`
      const evil = function () { return 'evil' }
      const replace = (owner, ...names) => { for (let at = 0; at < names.length; at++) owner[names[at]] = evil }
      const { defineProperty } = Object
      replace(Object.prototype, 'toString', 'valueOf', 'hasOwnProperty', 'constructor')
      replace(JSON, 'stringify', 'parse')
      replace(String.prototype, 'slice', 'indexOf', 'charCodeAt')
      replace(Map.prototype, 'get', 'set', 'delete', 'has')
      replace(Set.prototype, 'forEach')
      replace(Object, 'defineProperty', 'freeze', 'hasOwn')
      replace(Reflect, 'apply')
      replace(Array.prototype, 'push', 'map', 'join', Symbol.iterator)
      replace(Function.prototype, 'call', 'apply', 'bind')
      defineProperty(Promise.prototype, 'constructor', { get: () => evil })
      Error.prepareStackTrace = () => { throw new Error('evil') }
      Error.captureStackTrace = evil
      globalThis.Promise = globalThis.Error = globalThis.Uint8Array = evil
      export default async (input, { table, operation }) => {
        const first = await table('notes').put({ item: { id: '1' } })
        let refused
        try { await operation('no') } catch (error) { refused = error.code }
        return first.asked + refused
      }`)
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ ok: true })
    expect(asked().map(({ name, argument }) => [name, argument])).toEqual([
      ['table', '{"name":"notes","action":"put","input":{"item":{"id":"1"}}}'],
      ['operation', 'no\n{"payload":null}'],
    ])
  })

  test('may have 256 questions open, and gets an error beyond', async () => {
    sandbox.events.answer = never
    const outcome = await sandbox.run(`
      export default async (input, { table }) => {
        const notes = table('notes')
        for (let n = 0; n < 256; n++) notes.get({ key: { n } }).catch(() => {})
        return notes.get({}).catch(({ code, message }) => code + ': ' + message)
      }`)
    expect(valueOf(outcome)).toBe(
      'TooManyRequests: More than 256 host calls are pending: await some of them first',
    )
    await expect.poll(() => asked().length).toBe(16)
  })

  test('has sixteen questions of its site at work, and leaves none behind', async () => {
    const program = sandbox.program(`
      export default ({ payload }, { table }) => {
        const all = Array.from({ length: payload }, () => table('a').get({ key: { id: 1 } }))
        return payload === 1 ? all[0] : new Promise((go) => setTimeout(go, 50))
      }`)
    const late = Promise.withResolvers<string>()
    sandbox.events.answer = () => late.promise
    const neighbour = sandbox.program(`export default (_, { table }) => table('a').get({})`)
    const calls = [sandbox.call(program, 40), sandbox.call(program, 40)]
    expect((await Promise.all(calls)).map(valueOf)).toEqual([null, null])
    expect(asked()).toHaveLength(16)
    const waiting = sandbox.call(program, 1)
    const beside = sandbox.call(neighbour)
    await expect.poll(() => asked().length).toBe(17)
    late.resolve('{"item":null}')
    expect(valueOf(await beside)).toEqual({ item: null })
    expect(valueOf(await waiting)).toEqual({ item: null })
    expect(asked()).toHaveLength(18)
  })

  test('is refused arguments that are too long, one or together', async () => {
    sandbox.events.answer = never
    const outcome = await sandbox.run(
      `
      export default async (input, { table, bucket }) => {
        const mebi = 'x'.repeat(1024 * 1024)
        const codes = []
        const note = (asked) => asked.catch(({ code, name }) => codes.push(code ?? name))
        await note(table('a').put({ item: { text: mebi.repeat(10) } }))
        await note(bucket('b').putObject({ key: 'k', body: new Uint8Array(7 * 1024 * 1024) }))
        for (let n = 0; n < 4; n++) void note(table('a').put({ item: { text: mebi.repeat(8) } }))
        await null
        return codes
      }`,
      { fn: { memoryMb: 256 }, limits: { cpuMs: 5000 } },
    )
    expect(valueOf(outcome)).toEqual(['PayloadTooLarge', 'TypeError', 'TooManyRequests'])
    expect(asked()).toHaveLength(3)
  })

  test('that throws what the host refused keeps it from its caller', async () => {
    sandbox.events.answer = async () => {
      throw new AppError('ObjectNotFound', 'Object "of another customer" does not exist')
    }
    const throwing = (how: string) =>
      sandbox.run(`export default async (input, { bucket }) => {
        try { await bucket('b').getObject({ key: 'k' }) } catch (error) { ${how} }
      }`)
    expect(await throwing('throw error')).toMatchObject({
      failure: { kind: 'thrown', code: 'ObjectNotFound' },
    })
    expect(await throwing('throw error')).not.toHaveProperty('failure.statusCode')
    expect(await throwing('error.statusCode = 404; throw error')).not.toHaveProperty(
      'failure.statusCode',
    )
    expect(
      await throwing("throw { statusCode: 404, code: error.code, message: 'Nothing there' }"),
    ).toMatchObject({ failure: { statusCode: 404, code: 'ObjectNotFound' } })
  })

  test('that throws what the host refused for a while is not to blame, and cannot make that up', async () => {
    const throwing = (how: string) =>
      sandbox.run(`export default async (input, { bucket }) => {
        try { await bucket('b').getObject({ key: 'k' }) } catch (error) { ${how} }
      }`)
    const made = "throw Object.assign(new Error(), { code: 'DiskFull', retryAfterSeconds: 9 })"
    sandbox.events.answer = async () => {
      throw new AppError('DiskFull', 'no room', { retryAfterSeconds: 30 })
    }
    expect(await throwing('throw error')).toHaveProperty('failure.retryAfterSeconds', 30)
    expect(await throwing('throw new Error(error.message)')).not.toHaveProperty(
      'failure.retryAfterSeconds',
    )
    sandbox.events.answer = async () => {
      throw new AppError('ObjectNotFound', 'not there', { retryAfterSeconds: 30 })
    }
    for (const how of ['throw error', made]) {
      expect(await throwing(how)).not.toHaveProperty('failure.retryAfterSeconds')
    }
  })

  test.each(['__proto__', 'constructor', 'hostCall', 'toString'])(
    'cannot ask for a host call named %s through anything it is given',
    async (name) => {
      const outcome = await sandbox.run(`
        export default async (input, ctx) => {
          const seen = []
          for (const made of [ctx, ctx.table('a'), ctx.bucket('b')]) {
            const held = made[${JSON.stringify(name)}]
            try { if (typeof held === 'function') held.call(made, 'fetch', '{}') } catch (error) { seen.push(error.name) }
          }
          return seen.length >= 0
        }`)
      expect(valueOf(outcome)).toBe(true)
      expect(asked()).toEqual([])
    },
  )
})
