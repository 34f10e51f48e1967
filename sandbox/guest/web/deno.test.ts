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
      for (const change of [() => Deno.env.set('A', 'b'), () => Deno.env.delete('KEY')]) { try { change() } catch (e) { refusals.push(e.message) } }
      const copy = Deno.env.toObject(); copy.KEY = 'changed'
      return [Deno.env.get('KEY'), Deno.env.get('no'), Deno.env.has('KEY'), Deno.env.has('toString'), refusals, Deno.args]`),
    ).toEqual([
      'value',
      null,
      true,
      false,
      Array.from({ length: 2 }, () => expect.stringContaining('read-only')),
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
    ['a file', `Deno.readTextFile('/etc/passwd')`, 'Deno.readTextFile is not available here'],
    ['a process', `new Deno.Command('ls')`, 'Deno.Command is not available here'],
    ['the end', `Deno.exit(0)`, 'Deno.exit is not available here'],
  ])('refuses %s', async (_name, source, message) => {
    expect(await guest.run(`try { ${source} } catch (e) { return e.message }`)).toContain(message)
  })

  test('can be asked what it has', async () => {
    expect(
      await guest.run(
        `return ['serve' in Deno, 'readFile' in Deno, Object.keys(Deno), await Deno === Deno, Deno.build.os, typeof Deno.version.deno]`,
      ),
    ).toEqual([
      true,
      false,
      ['env', 'args', 'build', 'noColor', 'serve', 'version'],
      true,
      'linux',
      'string',
    ])
  })
})
