import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const NESTED = 3_000
const nested = (open: string, inner: string, close: string): string =>
  open.repeat(NESTED) + inner + close.repeat(NESTED)

/** Sources that break a parser, of a few KB each. */
const BOMBS = {
  brackets: `export default () => ${nested('[', '', ']')}`,
  generics: `let x: ${nested('A<', 'B', '>')}\nexport default () => 1`,
  arrows: `export default ${nested('() => ', '1', '')}`,
  conditions: `export default () => ${nested('1 ? ', '1', ' : 1')}`,
}

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
  test.each(Object.entries(BOMBS))(
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
