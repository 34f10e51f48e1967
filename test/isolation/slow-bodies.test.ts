import { once } from 'node:events'
import { type Socket, connect } from 'node:net'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MIB = 1024 * 1024
const DECLARED = 6 * MIB
/** All but the end: in blocks of up to 1 MiB six bodies less than 40 MiB. */
const SENT = Buffer.alloc(5 * MIB + 512 * 1024, ' ')
/** More than 128 MiB hold. */
const STRANGERS = 30

let stack: Stack
let one: RuntimeSite
let two: RuntimeSite
beforeAll(async () => {
  stack = await startStack({ config: { trustedProxies: ['127.0.0.1'] } })
  one = await RuntimeSite.open(stack, 'one.test')
  two = await RuntimeSite.open(stack, 'two.test')
  for (const site of [one, two]) await site.publish('take', 'export default () => "taken"')
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Declares 6 MiB for an operation, sends almost all of it, and waits. */
class Stranger {
  answer = ''
  readonly #socket: Socket

  private constructor(socket: Socket) {
    this.#socket = socket.setEncoding('latin1')
    socket.on('data', (text: string) => (this.answer += text))
    socket.on('error', () => {})
  }

  static async begin(site: RuntimeSite, address: string): Promise<Stranger> {
    const socket = connect(stack.port, '127.0.0.1')
    await once(socket, 'connect')
    const stranger = new Stranger(socket)
    socket.write(
      `POST /data/public/take HTTP/1.1\r\nhost: ${site.host}\r\ncontent-type: application/json\r\n` +
        `x-forwarded-for: ${address}\r\ncontent-length: ${DECLARED}\r\n\r\n`,
    )
    socket.write(SENT)
    return stranger
  }

  finish(): void {
    const end = '{"payload":null}'
    this.#socket.write(`${' '.repeat(DECLARED - SENT.byteLength - end.length)}${end}`)
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}

const body = JSON.stringify({ payload: 'x'.repeat(200_000) })
const from = (address: string) => ({ 'x-forwarded-for': address })

describe('strangers of one network who do not end their bodies', () => {
  test('make room for each other; their site, and its neighbour, answer all others', async () => {
    using strangers = new DisposableStack()
    const crowd: Stranger[] = []
    for (let count = 0; count < STRANGERS; count += 1) {
      crowd.push(strangers.use(await Stranger.begin(one, '203.0.113.7')))
    }
    const refused = () => crowd.filter(({ answer }) => answer !== '')
    await vi.waitUntil(() => refused().length > 0, { timeout: 30_000 })
    for (const { answer } of refused()) {
      expect(answer).toContain('408 ')
      expect(answer).toContain('"code":"RequestTimeout"')
      expect(answer.toLowerCase()).toContain('connection: close')
    }
    for (const site of [one, two]) {
      const answer = await site.send('/data/public/take', body, from('198.51.100.1'))
      expect(answer.json, answer.text).toEqual({ ok: true, data: 'taken' })
    }
    const last = crowd.at(-1)
    last?.finish()
    await vi.waitUntil(() => last?.answer.includes('taken'), { timeout: 30_000 })
    expect(refused().length).toBeLessThan(STRANGERS / 2)
  })
})
