import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { NESTED_SOURCES } from '#test/nested-source.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let attacker: RuntimeSite
let neighbour: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  attacker = await RuntimeSite.open(stack, 'one.test')
  neighbour = await RuntimeSite.open(stack, 'two.test')
})
afterAll(() => stack[Symbol.asyncDispose]())

const functionOf = (name: string, code: string) => ({
  type: 'lambdaFunction',
  name,
  config: { code },
})

describe('a source that breaks the parser', () => {
  test.each(Object.entries(NESTED_SOURCES))(
    'for its %s is refused to its author, while a neighbour publishes',
    async (name, code) => {
      const [refused, published] = await Promise.all([
        attacker.admin('POST', '/resources', functionOf(name, code)),
        neighbour.admin('POST', '/resources', functionOf(name, 'export default () => 1 as number')),
      ])
      expect(refused).toMatchObject({
        status: 400,
        json: {
          error: {
            code: 'InvalidCode',
            message: expect.stringContaining(
              'cannot be read: it is nested too deeply, or too large',
            ),
          },
        },
      })
      expect(published).toMatchObject({ status: 200 })
    },
  )

  test('hinders neither the author nor the neighbour afterwards', async () => {
    for (const site of [attacker, neighbour]) {
      await site.publish('typed', 'export default (): number => 1')
      expect(await site.call('typed')).toMatchObject({ status: 200 })
    }
  })
})
