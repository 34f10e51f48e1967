import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { CallOutcome } from '#platform/sandbox-host/sandbox.ts'
import { TestSandbox, valueOf } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  // What calls do is not to be cut short on a busy machine.
  sandbox = await TestSandbox.start({}, { cpuMs: 2000 })
})
afterAll(() => sandbox[Symbol.asyncDispose]())

describe('a call', () => {
  test('gives the handler its input and context', async () => {
    const program = sandbox.program(
      'export default (input, { env }) => ({ input, env, same: Deno.env.get("KEY") })',
      { fn: { env: { KEY: 'value' } } },
    )
    const authText = '{"sub":"s","username":"u","groups":["g"]}'
    const call = {
      site: { siteId: program.siteId, domain: program.siteDomain },
      operation: 'greet',
      requestId: 'req_x',
      authority: { sub: 's', groups: ['g'], authText, isThirdParty: false },
      depth: 0,
      body: '{"payload":{"name":"Ada"}}',
    }
    const outcome = await sandbox.hosts.call(call, program, 'main')
    expect(valueOf(outcome)).toEqual({
      input: {
        payload: { name: 'Ada' },
        auth: { sub: 's', username: 'u', groups: ['g'] },
        operation: 'greet',
        requestId: 'req_x',
        site: { siteId: program.siteId, siteDomain: program.siteDomain },
      },
      env: { KEY: 'value' },
      same: 'value',
    })
    expect(outcome.cpuUs).toBeGreaterThan(0)
  })

  test('finds variables in its environment and nothing else', async () => {
    const found = await sandbox.run(
      `try { Object.prototype.PLANTED = 'no variable' } catch {}
      Object.prototype.valueOf = 'no variable'
      export default (input, { env }) => ({
        set: 'KEY' in env,
        others: ['constructor', 'toString', 'valueOf', 'PLANTED', '__proto__'].filter((name) => name in env),
        copy: { ...env },
      })`,
      { fn: { env: { KEY: 'value' } } },
    )
    expect(valueOf(found)).toEqual({ set: true, others: [], copy: { KEY: 'value' } })
  })

  test('carries any text there and back unchanged', async () => {
    const program = sandbox.program('export default ({ payload }) => payload')
    const text = 'é€😀\u2028\0"\\\n;C1 2 3;' + 'x'.repeat(20_000)
    expect(valueOf(await sandbox.call(program, text))).toBe(text)
  })

  test('that returns nothing has the result null', async () => {
    expect(await sandbox.run('export default () => {}')).toMatchObject({ ok: true, result: 'null' })
  })

  test.each([
    ['no JSON', '{"payload":', /^The body is not JSON/],
    ['no object', '[1]', /must be a JSON object/],
    ['null', 'null', /must be a JSON object/],
  ])('whose body is %s is refused without running anything', async (_what, body, message) => {
    const program = sandbox.program('export default () => 1')
    expect(await sandbox.raw(program, body)).toMatchObject({
      ok: false,
      failure: { kind: 'invalidBody', message: expect.stringMatching(message) },
    })
  })

  test('of a function that the program lacks is invalid code', async () => {
    const program = sandbox.program('export default () => 1')
    expect(await sandbox.call(program, null, 'other')).toMatchObject({
      failure: { kind: 'invalidCode', fault: { message: expect.stringContaining('"other"') } },
    })
  })

  test.each([
    ['a named handler', 'export const go = () => "named"', { handler: 'go' }, 'named'],
    [
      'a fetch handler',
      'export default { fetch: async (request) => Response.json(await request.json()) }',
      {},
      { n: 1 },
    ],
    [
      'a fetch handler that answers text',
      'export default { fetch: () => new Response("hi") }',
      {},
      'hi',
    ],
    [
      'a fetch handler that answers nothing',
      'export default { fetch: () => new Response(null, { status: 204 }) }',
      {},
      null,
    ],
    [
      'Deno.serve',
      'Deno.serve((request) => Response.json({ method: request.method }))',
      {},
      { method: 'POST' },
    ],
  ])('reaches %s', async (_what, code, fn, result) => {
    expect(valueOf(await sandbox.call(sandbox.program(code, { fn }), { n: 1 }))).toEqual(result)
  })

  test('answered by a Response of status 400 or more was refused by the site', async () => {
    const refused = await sandbox.run(
      'export default { fetch: () => Response.json({ error: { code: "Nope", message: "no" } }, { status: 409 }) }',
    )
    expect(refused).toMatchObject({
      failure: { kind: 'thrown', statusCode: 409, code: 'Nope', message: 'no' },
    })
  })

  test.each([
    ['a redirect', 'Response.redirect("https://example.org/")', /status 302, .*"http": true/],
    ['bytes', 'new Response(new Uint8Array([0xff, 0xfe]))', /no text, .*"http": true/],
    [
      'a cookie',
      'new Response("x", { headers: { "set-cookie": "a=1" } })',
      /sets a cookie, .*"http": true/,
    ],
    [
      'JSON that is none',
      'new Response("{", { headers: { "content-type": "application/json" } })',
      /says that it is JSON/,
    ],
  ])('does not fit %s into the envelope, and says so', async (_what, response, message) => {
    expect(await sandbox.run(`export default { fetch: () => ${response} }`)).toMatchObject({
      failure: { kind: 'invalidResult', message: expect.stringMatching(message) },
    })
  })

  test.each([
    ['new Response("short", { status: 418 })', 418, 'OperationRejected', 'short'],
    ['Response.json({ code: "Own" }, { status: 404 })', 404, 'Own', '{"code":"Own"}'],
    [
      'new Response("{", { status: 400, headers: { "content-type": "x/json" } })',
      400,
      'OperationRejected',
      '{',
    ],
  ])('is refused by the site with %s', async (response, statusCode, code, message) => {
    expect(await sandbox.run(`export default { fetch: () => ${response} }`)).toMatchObject({
      failure: { kind: 'thrown', statusCode, code, message },
    })
  })

  test.each([
    'new Response("\u00fc\ufffd")',
    'new Response("\ufeff\u00fc\ufffd")',
    'new Response("\u00fc\ufffd", { status: 201 })',
  ])('has the text of %s as its result', async (response) => {
    expect(valueOf(await sandbox.run(`export default { fetch: () => ${response} }`))).toBe(
      '\u00fc\ufffd',
    )
  })

  test('keeps what the module remembers from call to call', async () => {
    const program = sandbox.program('let count = 0; export default () => (count += 1)')
    const counts: unknown[] = []
    for (let call = 0; call < 12; call += 1) counts.push(valueOf(await sandbox.call(program)))
    // Another host takes over when the first is slow to answer, so the row may begin again once.
    expect(new Set(counts).size).toBeGreaterThan(6)
  })

  test('of one function sees nothing of another function of its site', async () => {
    const base = sandbox.program('globalThis.leak = 1; export default () => globalThis.leak')
    const [first] = base.functions.values()
    if (!first) throw new Error('The program has no function')
    const modules = [
      { path: 'b.js', format: 'esm' as const, code: 'export default () => typeof leak' },
    ]
    const second = { ...first, functionId: 'second', entry: 'b.js', modules, env: { B: '1' } }
    const program = { ...base, functions: new Map([...base.functions, ['second', second]]) }
    expect(valueOf(await sandbox.call(program))).toBe(1)
    expect(valueOf(await sandbox.call(program, null, 'second'))).toBe('undefined')
  })

  test('waits for timers, in the order that they are due', async () => {
    const program = sandbox.program(`
      export default async () => {
        const seen = []
        const wait = (ms, name) => new Promise((go) => setTimeout(() => { seen.push(name); go() }, ms))
        const early = wait(1, 'early')
        const tick = setInterval(() => seen.push('tick'), 10)
        const cancelled = setTimeout(() => seen.push('never'), 5)
        clearTimeout(cancelled)
        await Promise.all([early, wait(25, 'late')])
        clearInterval(tick)
        return { once: seen.filter((name) => name !== 'tick'), ticked: seen.includes('tick') }
      }
    `)
    expect(valueOf(await sandbox.call(program))).toEqual({ once: ['early', 'late'], ticked: true })
  })

  test('is not disturbed by a repeating timer that an earlier one left behind', async () => {
    const program = sandbox.program(`
      let ticks = 0
      export default async ({ payload }) => {
        if (payload === 'leave') { setInterval(() => { ticks += 1 }, 1); return }
        const before = ticks
        await new Promise((go) => setTimeout(go, 50))
        return ticks - before
      }
    `)
    await sandbox.call(program, 'leave')
    expect(valueOf(await sandbox.call(program))).toBeLessThanOrEqual(1)
  })

  test('may have 256 questions open, whatever other calls of its function have open', async () => {
    const gate = Promise.withResolvers<string>()
    sandbox.events.answer = () => gate.promise
    const program = sandbox.program(`
      export default async (input, { operation }) => {
        const all = await Promise.allSettled(Array.from({ length: 257 }, () => operation('other')))
        return all.filter(({ reason }) => reason?.message.startsWith('More than 256 host calls')).length
      }
    `)
    const calls = Array.from({ length: 3 }, () => sandbox.call(program))
    await vi.waitUntil(() => sandbox.events.hostCalls.length >= 64, 10_000)
    gate.resolve('null')
    expect((await Promise.all(calls)).map(valueOf)).toEqual([1, 1, 1])
    sandbox.events.answer = async () => 'null'
  })

  test('gets the answers to what it asks, each to its own question', async () => {
    sandbox.events.answer = async (call) => {
      const { url } = JSON.parse(call.argument) as { url: string }
      if (url.endsWith('/refused')) throw new Error('not allowed')
      return JSON.stringify({ url })
    }
    const program = sandbox.program(`
      export default async ({ payload }) => {
        try { await fetch('https://x.test/' + payload); return 'answered' } catch (error) { return error.message }
      }
    `)
    const outcome = await sandbox.call(program, 'refused')
    expect(valueOf(outcome)).toContain('not allowed')
    expect(sandbox.events.hostCalls.at(-1)).toMatchObject({
      call: { site: { siteId: program.siteId }, operation: 'op' },
      program: { key: program.key },
      function: { functionId: 'main' },
      name: 'fetch',
    })
  })

  test('that ends aborts what it still asks for', async () => {
    const { promise: aborted, resolve } = Promise.withResolvers<string>()
    sandbox.events.answer = ({ signal }) =>
      new Promise(() => signal.addEventListener('abort', () => resolve('aborted')))
    const outcome = await sandbox.run(
      `export default async () => {
        fetch('https://x.test/').catch(() => {}); await new Promise((go) => setTimeout(go, 20)); return 1
      }`,
    )
    expect(outcome).toMatchObject({ result: '1' })
    expect(await aborted).toBe('aborted')
  })

  test('cannot leave a question open for the next one: that gets a refusal', async () => {
    sandbox.events.answer = () => new Promise(() => {})
    const program = sandbox.program(`
      let open
      export default async ({ payload }) => {
        if (payload === 'ask') { open = fetch('https://x.test/'); await new Promise((go) => setTimeout(go, 20)); return }
        try { return await open } catch (error) { return error.message }
      }
    `)
    for (let attempt = 0; attempt < 300; attempt += 50) {
      await Promise.all(Array.from({ length: 50 }, () => sandbox.call(program, 'ask')))
    }
    expect(valueOf(await sandbox.call(program))).toContain('is over')
    sandbox.events.answer = async () => 'null'
  })

  test('prints lines that bear its operation and request', async () => {
    const program = sandbox.program(`
      export default async (input, { log }) => {
        console.warn('at once', { a: 1 }); await new Promise((go) => setTimeout(go, 1)); log('later'); log.error('worse')
      }
    `)
    await sandbox.call(program)
    expect(sandbox.linesOf(program)).toMatchObject([
      {
        level: 'warn',
        message: 'at once { a: 1 }',
        operation: 'op',
        requestId: expect.any(String),
      },
      { level: 'info', message: 'later', operation: 'op' },
      { level: 'error', message: 'worse', operation: 'op' },
    ])
  })

  test('shares its isolate with hundreds at once, and each gets its own answer', async () => {
    const code =
      'export default async ({ payload }) => { await new Promise((go) => setTimeout(go, 1)); return payload * 2 }'
    const programs = Array.from({ length: 8 }, () => sandbox.program(code))
    const answers = await Promise.all(
      Array.from({ length: 800 }, async (_, index) => {
        const program = programs[index % programs.length]
        if (!program) throw new Error('There are no programs')
        return valueOf(await sandbox.call(program, index))
      }),
    )
    expect(answers).toEqual(Array.from({ length: 800 }, (_, index) => index * 2))
  })

  test('of a retired program finishes, and later ones start afresh', async () => {
    const program = sandbox.program(`
      let count = 0
      export default async ({ payload }) => { count += 1; if (payload) await new Promise((go) => setTimeout(go, 50)); return count }
    `)
    const running = sandbox.call(program, true)
    await sandbox.call(program)
    sandbox.hosts.retire(program)
    expect(await running).toMatchObject({ ok: true })
    expect(valueOf(await sandbox.call(program))).toBe(1)
  })

  test('of a retired program that was still to come shares an isolate, which nothing keeps', async () => {
    const count = 'let count = 0; export default () => (count += 1)'
    const before = sandbox.hosts.status().warmIsolates
    const programs = Array.from({ length: 5 }, () =>
      sandbox.program(count, { limits: { concurrency: 1 } }),
    )
    const late = await Promise.all(
      programs.map(async (program) => {
        await sandbox.call(program)
        const calls = Array.from({ length: 10 }, () => sandbox.call(program))
        sandbox.hosts.retire(program)
        return (await Promise.all(calls)).map(valueOf)
      }),
    )
    // At most one in each worker that helped out.
    for (const counts of late) expect(counts.filter((at) => at === 1).length).toBeLessThan(5)
    await expect.poll(() => sandbox.hosts.status().warmIsolates).toBeLessThanOrEqual(before)
  })

  test('of a retired program is still received', async () => {
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<string>()
    sandbox.events.answer = () => {
      asked.resolve()
      return answered.promise
    }
    const program = sandbox.program(`
      export default async () => {
        console.log('begins')
        await fetch('https://x.test/').catch(() => {})
        console.log('goes on')
      }
    `)
    const running = sandbox.call(program)
    await asked.promise
    sandbox.hosts.retire(program)
    answered.reject(new Error('no'))
    expect(await running).toMatchObject({ ok: true })
    expect(sandbox.linesOf(program).map(({ message, operation }) => [message, operation])).toEqual([
      ['begins', 'op'],
      ['goes on', 'op'],
    ])
  })
})

describe('work that a call gave to waitUntil', () => {
  /** How the rest of a call ended that was answered before. */
  async function restOf(outcome: CallOutcome): Promise<CallOutcome> {
    if (!outcome.ok || !outcome.rest) throw new Error('The call did not go on after its answer')
    return outcome.rest
  }
  const LATER = 'const later = (ms) => new Promise((go) => setTimeout(go, ms))\n'
  const printed = () => sandbox.events.lines.map(({ message }) => message)

  test('goes on after the answer with the rights of the call, and is charged', async () => {
    sandbox.events.answer = async () => 'null'
    const outcome = await sandbox.run(
      `${LATER}export default (_input, { waitUntil, log, sendEmail }) => {
        waitUntil(later(50).then(async () => {
          let sum = 0
          for (let at = 0; at < 3e6; at += 1) sum += at
          log('asked', await sendEmail({}))
        }))
        return 'at once'
      }`,
    )
    expect(valueOf(outcome)).toBe('at once')
    expect(printed()).not.toContain('asked null')
    const rest = await restOf(outcome)
    expect(rest).toMatchObject({ ok: true })
    expect(rest.cpuUs).toBeGreaterThan(outcome.cpuUs)
    expect(printed()).toContain('asked null')
  })

  test('that is done before the answer leaves nothing to wait for', async () => {
    const outcome = await sandbox.run(
      `${LATER}export default async (_input, ctx) => {
        ctx.waitUntil(Promise.reject(new Error('early')).catch(() => {}))
        await later(5)
        return 1
      }`,
    )
    expect(outcome).toMatchObject({ ok: true, result: '1' })
    expect(outcome).not.toHaveProperty('rest')
  })

  test('that fails is a line of the log, and holds up nothing else', async () => {
    const outcome = await sandbox.run(
      `${LATER}export default { fetch(request, { waitUntil, log }) {
        waitUntil(later(5).then(() => { throw new Error('it broke') }))
        waitUntil(later(20).then(() => log('the other is done')))
        return new Response('hi')
      } }`,
    )
    expect(valueOf(outcome)).toBe('hi')
    expect(await restOf(outcome)).toMatchObject({ ok: true })
    expect(printed()).toContainEqual(
      expect.stringMatching(/^Uncaught in waitUntil: Error: it broke/),
    )
    expect(printed()).toContain('the other is done')
  })

  test('is done before a failure of the call is reported', async () => {
    const outcome = await sandbox.run(
      `${LATER}export default (_input, { waitUntil, log }) => {
        waitUntil(later(20).then(() => log('ran later')))
        throw new Error('no')
      }`,
    )
    expect(outcome).toMatchObject({ failure: { kind: 'thrown', message: 'no' } })
    expect(printed()).toContain('ran later')
  })

  test.each([
    ['time', 'new Promise(() => {})', 'timeoutMs'],
    ['processor time', 'later(5).then(() => { for (;;); })', 'cpuMs'],
  ])('ends with the %s of the call', async (_what, work, what) => {
    // Where the machine gave the call little of a processor, it is interrupted without a verdict.
    await expect
      .poll(
        async () => {
          const outcome = await sandbox.run(
            `${LATER}export default (_input, { waitUntil }) => { waitUntil(${work}) }`,
            { fn: { timeoutMs: 300 }, limits: { cpuMs: 200 } },
          )
          expect(valueOf(outcome)).toBeNull()
          return restOf(outcome)
        },
        { timeout: 20_000 },
      )
      .toMatchObject({ failure: { kind: 'limit', what } })
  })

  test('can be given only while the call is open, and only promises', async () => {
    const program = sandbox.program(
      `let kept
      export default ({ payload }, ctx) => {
        if (!payload) { kept = ctx; return null }
        try { (payload === 'old' ? kept : ctx).waitUntil(payload === 'old' ? Promise.resolve() : 1) } catch (error) { return error.message }
      }`,
    )
    // Another host takes over when the first is slow to answer: it remembers nothing.
    await vi.waitFor(async () => {
      await sandbox.call(program)
      expect(valueOf(await sandbox.call(program, 'old'))).toContain('is over')
    })
    expect(valueOf(await sandbox.call(program, 'number'))).toContain('give it a promise')
  })

  test('is waited for where the service stops', async () => {
    const outcome = await sandbox.run(
      `${LATER}export default (_input, { waitUntil, log }) => { waitUntil(later(100).then(() => log('before the stop'))) }`,
    )
    expect(outcome).toMatchObject({ ok: true })
    await sandbox.hosts.finishWork(5000)
    expect(printed()).toContain('before the stop')
    await sandbox.hosts.finishWork(5000)
  })
})

test('a response that is streamed waits until the service takes it, and ends with its client', async () => {
  const asked: string[] = []
  const left = new AbortController()
  const exchange = {
    left: left.signal,
    isStream: true,
    ask: async (argument: string) => {
      asked.push(argument.slice(0, 1))
      return new Promise<string>(() => {})
    },
  }
  sandbox.events.answer = async ({ call, argument }) => call.exchange?.ask(argument) ?? 'null'
  const program = sandbox.program(
    `export default { fetch: () => new Response(new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => console.log('cancelled'),
    })) }`,
  )
  const head = { method: 'GET', url: 'http://one.test/data/op', basePath: '/data/op', headers: [] }
  const site = { siteId: program.siteId, domain: program.siteDomain }
  const body = `${JSON.stringify({ ...head, body: 'none' })}\n`
  const call = { site, operation: 'op', requestId: 'r', authority: null, depth: 0, body, exchange }
  const outcome = sandbox.hosts.call(call, program, 'main')
  await vi.waitFor(() => expect(asked).toHaveLength(4))
  await sandbox.run('export default () => 1')
  expect(asked).toEqual(['H', 'B', 'B', 'B'])
  left.abort()
  expect(await outcome).toMatchObject({ ok: true, result: '' })
  expect(sandbox.events.lines.map(({ message }) => message)).toContain('cancelled')
})
