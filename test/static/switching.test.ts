import { setTimeout as pause } from 'node:timers/promises'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { type ObjectKind, objectKey } from '#platform/objects/object-store.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { StaticDesk } from '#test/static-sites.ts'

const VERSIONS = 8
const PAGES = 40
const READ_EVERY_MS = 10
const WORDS = 'the quick brown fox jumps over the lazy dog '.repeat(40)

let stack: Stack
let desk: StaticDesk
beforeAll(async () => {
  stack = await startStack({ sites: [] })
  desk = new StaticDesk(stack, new DeployDesk(stack))
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Each page names the script of its version, and each script says its version. */
function version(number: number): Record<string, string> {
  const script = `assets/app-${number.toString(16).padStart(7, '0')}a.js`
  const files: Record<string, string> = { [script]: `version(${number}) // ${WORDS}` }
  for (let page = 0; page < PAGES; page++) {
    files[`page-${page}.html`] = `<p>${WORDS}</p><script src="/${script}"></script> v=${number}.`
  }
  return files
}

const numberIn = (answer: Answer | undefined, pattern: RegExp): string | undefined =>
  answer?.status === 200 ? pattern.exec(answer.text)?.[1] : undefined

test('a page finds the script of its own version, whatever is switched at the same time, on either replica', async () => {
  const host = await desk.site(version(0))
  await using beside = await startStack({ beside: stack, works: false })
  const replicas = [stack, beside]
  const switched = new AbortController()
  const seen = new Set<string | undefined>()
  const faults: string[] = []
  const reader = async (lane: number): Promise<void> => {
    for (let turn = lane; !switched.signal.aborted; turn++) {
      const page = await replicas[turn % 2]?.call(host, 'GET', `/page-${turn % PAGES}`)
      const src = numberIn(page, /src="([^"]+)"/) ?? ''
      // The script comes from the other replica, which may be behind.
      const script = await replicas[(turn + 1) % 2]?.call(host, 'GET', src)
      const ofPage = numberIn(page, /v=(\d+)\./)
      const ofScript = numberIn(script, /version\((\d+)\)/)
      if (ofPage === undefined || ofPage !== ofScript) {
        faults.push(`${page?.status} ${script?.status}: page ${ofPage}, script ${ofScript}`)
      }
      seen.add(ofPage)
      // Readers and both replicas share one event loop with the deployment.
      await pause(READ_EVERY_MS)
    }
  }
  const readers = [0, 1].map(reader)
  for (let number = 1; number <= VERSIONS; number++) {
    await desk.deploy(host, version(number))
    // The client that deployed sees it at once.
    expect((await desk.get(host, '/page-0')).text).toContain(`v=${number}.`)
  }
  await vi.waitUntil(
    async () => (await beside.call(host, 'GET', '/page-0')).text.includes(`v=${VERSIONS}.`),
    { timeout: 30_000 },
  )
  switched.abort()
  await Promise.all(readers)
  expect(faults).toEqual([])
  expect(seen.size).toBeGreaterThan(2)
})

test('an earlier deployment comes back with its files, after a restart as well', async () => {
  const host = await desk.site({ 'index.html': 'one' })
  const [first] = (await stack.portal('GET', `/sites/${host}/deployments`)).json.items
  await desk.deploy(host, { 'index.html': 'two', 'new.html': 'new' })
  expect((await desk.get(host, '/new')).text).toBe('new')
  await stack.portal('POST', `/sites/${host}/deployments/${first.deploymentId}/activate`)
  expect((await desk.get(host, '/')).text).toBe('one')
  expect((await desk.get(host, '/new')).status).toBe(404)
  await using restarted = await startStack({ beside: stack, works: false })
  expect((await restarted.call(host, 'GET', '/')).text).toBe('one')
})

test('what no kept deployment has is removed, compressed forms too, and what is served stays', async () => {
  const host = await desk.site(version(100))
  const { siteId } = await stack.context.sites.find(host)
  const stored = async (kind: ObjectKind) => {
    const prefix = objectKey(siteId, kind, '')
    return (await stack.context.objects.list({ prefix, maxKeys: 1000 })).objects.length
  }
  // All pages of a version are equal.
  expect(await stored('encoded')).toBe(2)
  for (let number = 101; number <= 108; number++) await desk.deploy(host, version(number))
  await vi.waitUntil(async () => (await stored('encoded')) === 12, { timeout: 30_000 })
  const asset = await desk.get(host, '/assets/app-000006ca.js', { 'accept-encoding': 'br' })
  expect([asset.status, asset.headers['content-encoding']]).toEqual([200, 'br'])
  expect((await desk.get(host, '/assets/app-0000064a.js')).status).toBe(404)
})

test('compressed forms are made once, however often a file is deployed', async () => {
  const host = await desk.site(version(1))
  const { siteId } = await stack.context.sites.find(host)
  const times = async () => {
    const prefix = objectKey(siteId, 'encoded', '')
    const { objects } = await stack.context.objects.list({ prefix, maxKeys: 10 })
    return objects.map(({ key, lastModified }) => [key, lastModified.getTime()])
  }
  const before = await times()
  expect(before.length).toBeGreaterThan(0)
  await desk.deploy(host, { ...version(1), 'more.txt': 'more' })
  expect(await times()).toEqual(before)
})

test('a site whose deployment has no public files any more has none', async () => {
  const host = await desk.site({ 'index.html': 'home' })
  await desk.deploy(host, { '/greet.ts': 'export default () => 1' })
  expect((await desk.get(host, '/')).status).toBe(404)
})

test('a function cannot be a public file', async () => {
  const host = await desk.site({ 'index.html': 'home' })
  const files = {
    'index.html': 'new',
    'greet.ts': 'export default () => 1',
    '/croft.json': JSON.stringify({
      resources: [
        { type: 'lambdaFunction', name: 'greet', config: { artifact: 'public/greet.ts' } },
      ],
    }),
  }
  const refused = await desk.tried(host, files)
  expect(refused.status).toBe(400)
  expect(refused.json.error.message).toContain('the function "public/greet.ts" is in "public"')
})
