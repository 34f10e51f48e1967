import { afterAll, beforeAll, expect, test } from 'vitest'

import { median } from '#bench/median.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const CHANGES = 20

let stack: Stack
let beside: Stack
beforeAll(async () => {
  stack = await startStack()
  beside = await startStack({ beside: stack, works: false })
})
afterAll(async () => {
  await beside[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

test('a changed variable reaches another replica hardly later than the one that publishes it', async () => {
  const here = await RuntimeSite.open(stack, 'one.test')
  const there = await RuntimeSite.open(beside, 'one.test')
  const put = (value: string) => here.admin('PUT', '/env-vars', { variables: { TICK: { value } } })
  await put('start')
  const code = `export default (input, ctx) => ctx.env.TICK`
  const lambdaResourceId = await here.putFunction('tick', code, { environment: ['TICK'] })
  await here.putOperation('tick', { lambdaResourceId, auth: { mode: 'public' } })
  await here.synced()

  const seenAt = async (replica: RuntimeSite, value: string): Promise<number> => {
    await expect
      .poll(async () => (await replica.call('tick')).json.data, { interval: 5 })
      .toBe(value)
    return performance.now()
  }
  const ratios: number[] = []
  for (let at = 0; at < CHANGES; at += 1) {
    const startedAt = performance.now()
    await put(`tick ${at}`)
    const [first = 0, second = 0] = await Promise.all(
      [here, there].map((replica) => seenAt(replica, `tick ${at}`)),
    )
    ratios.push((second - startedAt) / (first - startedAt))
  }
  expect(median(ratios)).toBeLessThan(3)
})
