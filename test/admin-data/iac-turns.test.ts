import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const LONG = ['a.test', 'b.test']
const SHORT = 'c.test'

let stack: Stack
let ahead = 0
let jumps = 0
beforeAll(async () => {
  stack = await startStack({
    sites: [...LONG, SHORT],
    // A second passes at each reading of the clock, once the test says so.
    platform: { clock: { now: () => new Date(Date.now() + (ahead += jumps)) } },
  })
})
afterAll(() => stack[Symbol.asyncDispose]())

async function submit(host: string, count: number): Promise<{ site: RuntimeSite; jobId: string }> {
  const site = await RuntimeSite.open(stack, host)
  const groups = Array.from({ length: count }, (_, at) => ({ groupName: `g-${at}` }))
  const sent = await site.admin('POST', '/iac/jobs', { mode: 'apply', definition: { groups } })
  expect(sent.status, sent.text).toBe(200)
  return { site, jobId: sent.json.jobId }
}

test('a site with a small definition does not wait for those with large ones', async () => {
  jumps = 1000
  const jobs = [await submit('a.test', 80), await submit('b.test', 80), await submit(SHORT, 1)]
  jumps = 100
  for (const { site } of jobs) {
    const { siteId } = await stack.context.sites.find(site.host)
    const isIdle = () => stack.context.iacJobs.isIdle(siteId)
    await vi.waitUntil(isIdle, { timeout: 100_000, interval: 50 })
  }
  const ended = await Promise.all(
    jobs.map(async ({ site, jobId }) => (await site.admin('GET', `/iac/jobs/${jobId}`)).json),
  )
  expect(ended.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  expect(ended.map(({ summary }) => summary.created)).toEqual([80, 80, 1])
  const [a, b, c] = ended.map(({ finishedAt }) => Date.parse(finishedAt))
  expect(c).toBeLessThan(Math.min(a ?? 0, b ?? 0))
})
