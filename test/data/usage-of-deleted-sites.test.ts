import { afterAll, beforeAll, expect, test } from 'vitest'

import type { Logger } from '#platform/log/logger.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

const warnings: unknown[] = []
const logger: Logger = {
  ...silentLog,
  warn: (...of: unknown[]) => void warnings.push(of),
  child: () => logger as never,
}

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ logger })
})
afterAll(() => stack[Symbol.asyncDispose]())

const idOf = async (host: string) => (await stack.context.sites.find(host)).siteId

test('what a deleted site was used for is dropped without a word, and that of others is kept', async () => {
  const { runtimeUsage } = stack.context
  const [gone, kept] = [await idOf('one.test'), await idOf('two.test')]
  for (const siteId of [gone, kept]) runtimeUsage.record(siteId, 'hello', 'call')
  const deleted = await stack.portal('DELETE', '/sites/one.test', { confirm: true })
  expect(deleted.status, deleted.text).toBe(204)
  await runtimeUsage.flush()
  expect(warnings).toEqual([])
  const range = { from: new Date(0), to: new Date(Date.now() + 3_600_000) }
  expect(await runtimeUsage.list(kept, range, undefined)).toMatchObject([
    { operation: 'hello', calls: 1 },
  ])
})
