import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const GIVEN = 'export default ({ payload }) => ({ payload, isNull: payload === null })'

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  await site.publish('function', GIVEN)
  await site.publish('cached', GIVEN, { cache: { ttlSeconds: 60 } })
  await site.putOperation('preset', { preset: { preset: 'echo' }, auth: { mode: 'public' } })
  await site.synced()
})
afterAll(() => stack[Symbol.asyncDispose]())

const OPERATIONS = ['function', 'cached', 'preset']

describe('the body of a call', () => {
  test.each(
    OPERATIONS.flatMap((operation) =>
      [
        ['a field in the place of payload', '{"name":"Ada"}', 'name'],
        ['a field before payload', '{"name":"Ada","payload":1}', 'name'],
        ['a field after payload', '{"payload":1,"name":"Ada"}', 'name'],
        ['payload in another case', '{"Payload":1}', 'Payload'],
        ['a prototype', '{"payload":1,"__proto__":{}}', '__proto__'],
        ['a long name', `{"payload":1,"${'n'.repeat(100)}":1}`, `${'n'.repeat(64)}…`],
      ].map((row) => [operation, ...row] as const),
    ),
  )('of %s with %s is refused, and says where it belongs', async (operation, _what, body, name) => {
    const { status, json } = await site.send(`/data/public/${operation}`, body ?? '')
    expect(status).toBe(400)
    expect(json).toMatchObject({
      ok: false,
      error: {
        code: 'ValidationError',
        message: `${name}: is beside "payload", where no field is read: send {"payload":{${JSON.stringify(name)}:…}}`,
      },
    })
  })

  test.each(OPERATIONS)('of %s without payload has the payload null', async (operation) => {
    for (const body of ['{}', '', '{"payload":null}']) {
      const { status, json } = await site.send(`/data/public/${operation}`, body)
      expect(status).toBe(200)
      expect(json).toEqual({
        ok: true,
        data: operation === 'preset' ? null : { payload: null, isNull: true },
      })
    }
  })

  test('may have any field inside its payload', async () => {
    const payload = { payload: 1, name: 'Ada' }
    const { json } = await site.call('function', payload)
    expect(json).toEqual({ ok: true, data: { payload, isNull: false } })
  })
})
