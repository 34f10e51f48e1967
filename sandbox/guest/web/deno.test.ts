import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { Guest } from '#sandbox/guest/testing/guest.ts'

const SERVE_FORMS: readonly string[] = [
  `Deno.serve((request, info) => new Response('hello ' + new URL(request.url).pathname + typeof info.remoteAddr))`,
  `Deno.serve({ port: 8000 }, async (request) => new Response('hello ' + new URL(request.url).pathname + 'object'))`,
  `Deno.serve({ fetch(request) { return new Response('hello ' + new URL(request.url).pathname + typeof this.fetch.call) } }); host.suffix = 1`,
  `Deno.serve({ handler: (request) => new Response('hello ' + new URL(request.url).pathname + 'object') })`,
]

describe('Deno in a guest', () => {
  let guest: Guest

  beforeEach(async () => {
    guest = await Guest.open({ env: { KEY: 'value', __proto__: 'odd' } as Record<string, string> })
  })

  afterEach(() => guest[Symbol.dispose]())

  test('shows the environment and does not let it be changed', async () => {
    expect(
      await guest.run(`const refusals = []
      for (const change of [() => Deno.env.set('A', 'b'), () => Deno.env.delete('KEY')]) { try { change() } catch (e) { refusals.push([e instanceof Deno.errors.NotCapable, e.message]) } }
      const copy = Deno.env.toObject(); copy.KEY = 'changed'
      return [Deno.env.get('KEY'), Deno.env.get('no'), Deno.env.has('KEY'), Deno.env.has('toString'), refusals, Deno.args]`),
    ).toEqual([
      'value',
      null,
      true,
      false,
      ['A', 'KEY'].map((name) => [
        true,
        expect.stringMatching(new RegExp(`^Requires env access to "${name}".*read-only`)),
      ]),
      [],
    ])
  })

  test.each(SERVE_FORMS)('registers a handler: %s', async (source) => {
    const body = await guest.run(
      `const host = testHost; ${source}; return await (await host.serve(new Request('http://a/p'))).text()`,
    )
    expect(body).toMatch(/^hello \/p(?:object|function)$/)
  })

  test('lets onError answer for a handler that throws', async () => {
    const body = await guest.run(
      `Deno.serve({ onError: (e) => new Response(e.message) }, () => { throw new Error('oh') }); return await (await testHost.serve(new Request('http://a/p'))).text()`,
    )
    expect(body).toBe('oh')
  })

  test('gives a server that can be shut down', async () => {
    expect(
      await guest.run(
        `const server = Deno.serve(() => new Response()); const { addr } = server; await server.shutdown(); await server.finished; return [addr.transport, testHost.serve]`,
      ),
    ).toEqual(['tcp', null])
  })

  test.each([
    ['no handler', `Deno.serve({})`, 'handler'],
    ['two handlers', `Deno.serve(() => {}); Deno.serve(() => {})`, 'already'],
    ['a handler that is none', `Deno.serve({ handler: 5 })`, 'received number'],
    ['to write', `Deno.writeTextFileSync('a', 'b')`, 'Requires write access to "a", which'],
    ['to write later', `await Deno.writeTextFile('a', 'b')`, 'Requires write access to "a", which'],
    ['a folder', `Deno.readDirSync('.')`, 'Requires read access to ".", which'],
    ['a process', `new Deno.Command('ls').outputSync()`, 'Requires run access to "ls", which'],
    ['a process of old', `Deno.run({ cmd: ['ls'] })`, 'Requires run access, which'],
    ['to listen', `Deno.listen({ port: 1 })`, 'Requires net access to "0.0.0.0:1", which'],
    [
      'to connect',
      `await Deno.connect({ hostname: 'a.b', port: 2 })`,
      'Requires net access to "a.b:2"',
    ],
    ['the machine', `Deno.hostname()`, 'Requires sys access, which'],
    ['the end', `Deno.exit(1)`, 'Requires run access to "exit(1)", which'],
    ['a native library', `Deno.dlopen('l', {})`, 'Requires ffi access to "l", which'],
    ['what cannot be named', `Deno.statSync({ toString() { throw 1 } })`, 'Requires read access'],
    ['another permission', `Deno.permissions.querySync({ name: 'all' })`, '"all" is not a valid'],
    ['a path with NUL', `Deno.readFileSync('a\\0b')`, 'unexpected NUL'],
    ['no path', `Deno.readFileSync('')`, 'Empty path'],
    ['another kind of URL', `Deno.readFileSync(new URL('http://a/b'))`, 'Must be a file URL'],
    [
      'what is above',
      `Deno.readFileSync('a/../../etc/passwd')`,
      'Requires read access to "a/../../etc/passwd"',
    ],
    [
      'what is above, hidden',
      `Deno.readFileSync(new URL('file:///site/..%2f..%2fetc/passwd'))`,
      'Requires read access',
    ],
  ])('refuses %s', async (_name, source, message) => {
    expect(await guest.run(`try { ${source} } catch (e) { return e.message }`)).toContain(message)
  })

  test('reads the files of the artifact', async () => {
    const files = { 'a.txt': 'text', 'b.bin': 'data:;base64,/wA=' }
    using reader = await Guest.open({ files })
    expect(
      await reader.run(
        `return [await Deno.readTextFile('a.txt'), [...(await Deno.readFile('./b.bin'))], Deno.readTextFileSync('b.bin').length, [...Deno.readFileSync('/site/a.txt')]]`,
      ),
    ).toEqual(['text', [255, 0], 2, [116, 101, 120, 116]])
  })

  test('has the errors of Deno', async () => {
    expect(
      await guest.run(
        `const e = new Deno.errors.NotFound('x', { cause: 1 }); return [e instanceof Error, e.name, e.cause, Deno.errors.NotFound.name, Object.keys(Deno.errors).length, Deno.inspect(e).split('\\n')[0]]`,
      ),
    ).toEqual([true, 'NotFound', 1, 'NotFound', 25, 'NotFound: x'])
  })

  test('says what may be done', async () => {
    expect(
      await guest.run(
        `return [(await Deno.permissions.query({ name: 'env' })).state, Deno.permissions.requestSync({ name: 'write' }).state]`,
      ),
    ).toEqual(['granted', 'denied'])
  })

  test('has ends that lead to the log, and tells a server where it listens', async () => {
    await guest.run(`const bytes = new TextEncoder().encode('out\\n')
      console.log(await Deno.stdout.write(bytes), Deno.stderr.writeSync(bytes), Deno.stdout.isTerminal(), Deno.stdin.readSync())
      Deno.serve({ onListen: ({ port }) => console.log(port) }, () => new Response())
      Deno.addSignalListener('SIGTERM', () => {}); Deno.test('t', () => {})`)
    expect(guest.lines).toEqual([
      { level: 'info', text: 'out' },
      { level: 'error', text: 'out' },
      { level: 'info', text: '4 4 false null' },
      { level: 'info', text: '8000' },
    ])
  })

  test('is Deno to a program that looks at it', async () => {
    expect(
      await guest.run(
        `return ['serve' in Deno, 'readFile' in Deno, typeof Deno.openKv, await Deno === Deno, Deno.build.os, typeof Deno.version.deno, Deno.noColor, Deno.mainModule]`,
      ),
    ).toEqual([
      true,
      true,
      'undefined',
      true,
      'linux',
      'string',
      true,
      'file:///site/functions/main.ts',
    ])
  })
})
