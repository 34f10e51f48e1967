import { afterAll, beforeAll, expect, test } from 'vitest'

import { DeployDesk } from '#test/deploy-desk.ts'
import type { Answer } from '#test/http-client.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { StaticDesk } from '#test/static-sites.ts'
import { TcpProxy } from '#test/tcp-proxy.ts'

const SITES = ['one.test', 'two.test']
const VISITOR = 'kim@example.test'
/** How old what a replica remembers may be. */
const TRUSTED_MS = 2000
/** Less than the 600 ms after which a replica doubts that its database lives, and then keeps public files and functions as they are. */
const SLOW_ANSWER_MS = 400
/**
 * How long a replica that learns of something newer serves what it has: 0.4 s, and what a busy machine adds. Reading takes five
 * answers.
 */
const SUPERSEDED_MS = 1500

const cleanUp = new AsyncDisposableStack()
let stack: Stack
let proxy: TcpProxy
let beside: Stack
let files: StaticDesk
beforeAll(async () => {
  stack = cleanUp.use(await startStack({ sites: SITES }))
  proxy = cleanUp.use(await TcpProxy.start(stack.database.url))
  beside = cleanUp.use(
    await startStack({ beside: stack, works: false, databaseUrl: proxy.url, sandbox: 'started' }),
  )
  files = new StaticDesk(stack, new DeployDesk(stack))
  for (const host of SITES) await furnish(host)
})
afterAll(() => cleanUp.disposeAsync())

interface Furnished {
  readonly here: RuntimeSite
  readonly there: RuntimeSite
  readonly token: string
}
const furnished = new Map<string, Furnished>()

/** Everything of the site is remembered by the other replica then. */
async function furnish(host: string): Promise<void> {
  await files.deploy(host, { 'index.html': 'first' })
  const here = await RuntimeSite.open(stack, host)
  const there = await RuntimeSite.open(beside, host)
  await here.putGroups('staff')
  const token = await stack.dataToken(host, { user: VISITOR })
  await setStaff(here, true)
  const lambdaResourceId = await here.putFunction('staff', 'export default () => "for staff"')
  await here.putOperation('staff', {
    lambdaResourceId,
    auth: { mode: 'groups', groups: ['staff'] },
  })
  await here.publish('kept', 'export default () => crypto.randomUUID()', {
    cache: { ttlSeconds: 60 },
  })
  for (let round = 0; round < 2; round += 1) {
    expect((await there.callAs(token, 'staff')).status).toBe(200)
    expect((await there.call('kept')).status).toBe(200)
    expect((await beside.call(host, 'GET', '/')).text).toBe('first')
  }
  furnished.set(host, { here, there, token })
}

const setStaff = async (site: RuntimeSite, isMember: boolean): Promise<void> => {
  const { status } = isMember
    ? await site.admin('POST', '/groups/staff/users', { username: VISITOR })
    : await site.admin('DELETE', `/groups/staff/users?username=${VISITOR}`)
  expect(status).toBe(200)
}

/** When the last call began that was answered as before, in milliseconds after the change. */
async function staleMs(ask: () => Promise<Answer>, isNew: (answer: Answer) => boolean) {
  const changedMs = performance.now()
  for (let lastMs = 0; ;) {
    const askedMs = performance.now() - changedMs
    if (isNew(await ask()) || lastMs > TRUSTED_MS) return lastMs
    lastMs = askedMs
  }
}

test('what is published counts soon where to read it takes longer', async () => {
  const host = 'two.test'
  const { here, there } = furnished.get(host) as Furnished
  const lambdaResourceId = await here.publish('slow', 'export default () => "before"')
  const text = async (): Promise<unknown> => (await there.call('slow')).json.data
  await expect.poll(text).toBe('before')
  await files.deploy(host, { 'index.html': 'before' })
  await expect.poll(async () => (await beside.call(host, 'GET', '/')).text).toBe('before')
  proxy.slowAnswers(SLOW_ANSWER_MS)
  try {
    await here.admin('PATCH', `/resources/${lambdaResourceId}`, {
      config: { code: 'export default () => "after"' },
    })
    await here.synced()
    expect(
      await staleMs(
        () => there.call('slow'),
        ({ json }) => json.data === 'after',
      ),
    ).toBeLessThan(SUPERSEDED_MS)
    await files.deploy(host, { 'index.html': 'after' })
    expect(
      await staleMs(
        () => beside.call(host, 'GET', '/'),
        ({ text: page }) => page === 'after',
      ),
    ).toBeLessThan(SUPERSEDED_MS)
  } finally {
    proxy.slowAnswers(0)
  }
})

test.each(SITES)(
  'a right withdrawn without a notification is refused within two seconds on %s',
  async (host) => {
    proxy.silenceListeners()
    const { here, there, token } = furnished.get(host) as Furnished
    await setStaff(here, false)
    expect(
      await staleMs(
        () => there.callAs(token, 'staff'),
        ({ status }) => status === 403,
      ),
    ).toBeLessThan(TRUSTED_MS)
    await setStaff(here, true)
    expect(
      await staleMs(
        () => there.callAs(token, 'staff'),
        ({ status }) => status === 200,
      ),
    ).toBeLessThan(TRUSTED_MS)
  },
)

test.each(SITES)(
  'what is published or dropped without a notification is too on %s',
  async (host) => {
    const { here, there } = furnished.get(host) as Furnished
    const kept = (await there.call('kept')).text
    await here.admin('POST', '/operations/kept')
    expect(
      await staleMs(
        () => there.call('kept'),
        ({ text }) => text !== kept,
      ),
    ).toBeLessThan(TRUSTED_MS)
    await here.publish('later', 'export default () => "later"')
    expect(
      await staleMs(
        () => there.call('later'),
        ({ status }) => status === 200,
      ),
    ).toBeLessThan(TRUSTED_MS)
    await files.deploy(host, { 'index.html': 'second' })
    expect(
      await staleMs(
        () => beside.call(host, 'GET', '/'),
        ({ text }) => text === 'second',
      ),
    ).toBeLessThan(TRUSTED_MS)
  },
)

test('without the database, what is public goes on, and no right is taken for granted', async () => {
  const { there, token } = furnished.get('one.test') as Furnished
  proxy.fallSilent()
  await expect.poll(async () => (await there.callAs(token, 'staff')).status).toBe(503)
  expect(await there.call('later')).toMatchObject({ status: 200, json: { data: 'later' } })
  expect((await beside.call('one.test', 'GET', '/')).text).toBe('second')
})
