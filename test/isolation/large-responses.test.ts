import { type Server, createServer } from 'node:http'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { Egress, EgressPolicy } from '#platform/egress/egress.ts'
import { HttpEgress } from '#platform/egress/http-egress.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** More than what needs no reservation. Of a body that does not tell its length all 10 MiB are held that it may have. */
const BODY = Buffer.alloc(128 * 1024, 'a')
/** 64 MiB hold six of 10 MiB. */
const AT_ONCE = 6

/** Site code's way to a server here, and how many bodies have been given memory. */
class WatchedEgress implements Egress {
  granted = 0
  readonly #inner = new HttpEgress({
    resolve: async () => ['127.0.0.1'],
    isPublic: (address) => address === '127.0.0.1',
  })

  fetch(request: Parameters<Egress['fetch']>[0], policy: EgressPolicy, signal: AbortSignal) {
    const { memory } = policy
    if (!memory) throw new Error('site code is given no memory')
    const reserve: typeof memory.reserve = async (bytes, until) => {
      const reserved = await memory.reserve(bytes, until)
      if (reserved) this.granted += 1
      return reserved
    }
    const watched = { reserve, giveBack: (bytes: number) => memory.giveBack(bytes) }
    return this.#inner.fetch(request, { ...policy, memory: watched }, signal)
  }
}

const egress = new WatchedEgress()
let stack: Stack
let one: RuntimeSite
let two: RuntimeSite
let server: Server
let begun = 0
/** The ends of the bodies that have begun on the path `/held`. */
const held: (() => void)[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    response.write(BODY)
    const finish = () => void response.end()
    if (request.url === '/held') held.push(finish)
    else finish()
    begun += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  stack = await startStack({ platform: { egress } })
  one = await RuntimeSite.open(stack, 'one.test')
  two = await RuntimeSite.open(stack, 'two.test')
  for (const site of [one, two]) {
    await site.publish(
      'sizes',
      `const size = async (path) => (await (await fetch('http://api.test:${port}' + path)).text()).length
      export default ({ payload }) =>
        Promise.all(Array.from({ length: payload.count }, () => size(payload.path)))`,
    )
  }
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})

const sizes = (count: number) => Array.from({ length: count }, () => BODY.byteLength)

describe('one site that fetches many large responses at once', () => {
  test('holds six of them, gets all, and its neighbour does not wait', async () => {
    const greedy = [1, 2].map(() => one.call('sizes', { path: '/held', count: 5 }))
    await vi.waitUntil(() => begun === 10 && egress.granted === AT_ONCE, { timeout: 30_000 })
    const neighbour = await two.call('sizes', { path: '/', count: 2 })
    expect(neighbour.json).toMatchObject({ ok: true, data: sizes(2) })
    expect(egress.granted).toBe(AT_ONCE + 2)
    for (const finish of held) finish()
    for (const answer of greedy) {
      expect((await answer).json).toMatchObject({ ok: true, data: sizes(5) })
    }
    expect(egress.granted).toBe(AT_ONCE + 2 + 4)
  })
})
