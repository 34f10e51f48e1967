import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** How long the function that calls itself may run. */
const TIMEOUT_SECONDS = 4

let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  const tree = await site.putFunction(
    'tree',
    `export default async ({ payload: { width, depth } }, { operation }) => {
      if (depth === 0) return new Promise((done) => setTimeout(() => done([]), 200))
      const below = await Promise.all(Array.from({ length: width }, () =>
        operation('tree', { width, depth: depth - 1 }).catch(({ code, limit }) => [code + ' ' + limit?.name])))
      return [...new Set(below.flat())]
    }`,
    { timeoutSeconds: TIMEOUT_SECONDS },
  )
  await site.putOperation('tree', { lambdaResourceId: tree, auth: { mode: 'public' } })
  const endless = await site.putFunction(
    'endless',
    `export default async (_, { operation }) => {
      for (;;) {
        await Promise.all(Array.from({ length: 20 }, () => operation('endless').catch(() => {})))
        await new Promise((done) => setTimeout(done, 50))
      }
    }`,
    { timeoutSeconds: TIMEOUT_SECONDS },
  )
  await site.putOperation('endless', { lambdaResourceId: endless, auth: { mode: 'public' } })
  await site.publish('hello', 'export default () => 1')
})
afterAll(() => stack[Symbol.asyncDispose]())

describe('a call that sets off others', () => {
  test('may have 256 of them open, and gets an error when there are more', async () => {
    expect((await site.call('tree', { width: 15, depth: 2 })).json).toEqual({ ok: true, data: [] })
    expect((await site.call('tree', { width: 25, depth: 2 })).json).toEqual({
      ok: true,
      data: ['OperationOverloaded openNestedOperations'],
    })
  })

  test('without end leaves its site’s other visitors a place, and ends with all that it set off', async () => {
    let isOver = false
    const endless = site.call('endless').finally(() => {
      isOver = true
    })
    let calls = 0
    while (!isOver) {
      expect((await site.call('hello')).json).toEqual({ ok: true, data: 1 })
      calls += 1
    }
    expect((await endless).json).toMatchObject({ ok: false, error: { code: 'OperationTimeout' } })
    expect(calls).toBeGreaterThan(5)
    const startedMs = performance.now()
    expect((await site.call('tree', { width: 1, depth: 3 })).json).toEqual({ ok: true, data: [] })
    // What is left of the endless one would hold it for as long as that may run.
    expect(performance.now() - startedMs).toBeLessThan((TIMEOUT_SECONDS * 1000) / 2)
  })
})
