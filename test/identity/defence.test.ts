import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

import type { Counters } from '#platform/redis/counters.ts'
import { openCounters } from '#platform/redis/redis-counters.ts'
import type { Site } from '#sites/site.ts'
import { BETTER, GOOD, STRANGER, from } from '#test/accounts-desk.ts'
import { IdentityCluster, type Replica } from '#test/identity-replica.ts'
import { PATIENT, type TestRedis, redisMissing, startRedis } from '#test/redis.ts'
import { silentLog } from '#test/silent-log.ts'

const missing = redisMissing()
const PATIENCE = 10_000
const WRONG = 'InvalidCredentials'
const BLOCKED = 'TooManyRequests'

describe.skipIf(missing)(`two replicas that share a Redis${missing ? ` (${missing})` : ''}`, () => {
  let redis: TestRedis
  let cluster: IdentityCluster
  let counters: readonly Counters[]
  let replicas: readonly Replica[]
  let site: Site
  let names = 0

  const count = (by: number, name: string) =>
    counters[by]?.step(
      { siteId: 'probe', name },
      { free: 1, firstWaitMs: 0, lastWaitMs: 0, forgetMs: 60_000, forgetAfter: 'latest' },
      'add',
    )
  /** What one counts, the other sees. */
  const connected = () =>
    vi.waitFor(async () => {
      const name = `${(names += 1)}`
      await count(0, name)
      expect((await count(1, name))?.count).toBe(2)
    }, PATIENCE)

  beforeAll(async () => {
    redis = await startRedis()
    cluster = await IdentityCluster.start()
    counters = await Promise.all([0, 1].map(() => openCounters(redis.url, silentLog, PATIENT)))
    replicas = await Promise.all(
      counters.map((each) => cluster.replica({ deps: { counters: each } })),
    )
    const [one] = replicas
    if (!one) throw new Error('no replica')
    site = (await cluster.createSite(one, 'one.test')).site
    await connected()
  })
  afterEach(async () => {
    redis.thaw()
    await connected()
  })
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]()
    for (const each of counters) await each[Symbol.asyncDispose]()
    await redis[Symbol.asyncDispose]()
  })

  /** The outcome of a sign-in at a replica: the code of its refusal, or `in`. */
  const signIn = async (at: number, email: string, password = BETTER, origin = from()) => {
    const replica = replicas[at]
    if (!replica) throw new Error('no such replica')
    const { userPoolId } = await replica.pools.discovery(site)
    const pool = await replica.pools.byId(site, userPoolId)
    return replica.passwordSignIns.authenticate({ site, pool, origin }, { email, password }).then(
      () => 'in',
      (error: { code: string }) => error.code,
    )
  }

  /** So many failures that the wait outlasts the test, however slow the machine. */
  const pile = async (at: number, kind: 'account' | 'address', subject: string) => {
    for (let times = 0; times < 12; times += 1) {
      await replicas[at]?.attempts.add({ siteId: site.siteId, kind, subject })
    }
  }

  const pileOn = async (at: number, email: string) => {
    const discovery = await replicas[at]?.pools.discovery(site)
    await pile(at, 'account', `${discovery?.userPoolId} ${email} ${from().address}`)
  }

  const account = async (email: string) => {
    const [one] = replicas
    if (!one) throw new Error('no replica')
    const { userPoolId } = await one.pools.discovery(site)
    const pool = await one.pools.byId(site, userPoolId)
    const { sub } = await one.users.ensureVisitor(site, pool, email)
    await one.ownPasswords.add({ site, pool, origin: from() }, { sub, password: GOOD })
  }

  test('count guesses together, and forget them together', async () => {
    const email = 'shared@x.org'
    await account(email)
    const outcomes = []
    for (const at of [0, 1, 0, 1]) outcomes.push(await signIn(at, email))
    expect(outcomes).toEqual([WRONG, WRONG, WRONG, WRONG])
    expect(await signIn(0, email, GOOD)).toBe('in')
    for (const at of [1, 0, 1, 0]) expect(await signIn(at, email)).toBe(WRONG)
    await pileOn(0, email)
    expect(await Promise.all([signIn(0, email, GOOD), signIn(1, email, GOOD)])).toEqual([
      BLOCKED,
      BLOCKED,
    ])
  })

  test('let no more through at once than one of them would', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) => signIn(index % 2, 'burst@x.org')),
    )
    expect(outcomes.filter((outcome) => outcome === WRONG)).toHaveLength(5)
    expect(outcomes.filter((outcome) => outcome === BLOCKED)).toHaveLength(35)
  })

  test('take an IPv6 network for one guesser', async () => {
    for (let index = 0; index < 48; index += 1) {
      const origin = from(`2001:db8:9:9::${index.toString(16)}`)
      expect(await signIn(index % 2, `spray-${index}@x.org`, GOOD, origin)).toBe(WRONG)
    }
    await pile(0, 'address', '2001:db8:9:9::/64')
    expect(await signIn(0, 'spray@x.org', GOOD, from('2001:db8:9:9:ffff::1'))).toBe(BLOCKED)
    expect(await signIn(0, 'spray@x.org', GOOD, STRANGER)).toBe(WRONG)
  })

  test('go on from what they know when Redis dies in between, and people still sign in', async () => {
    const email = 'dies@x.org'
    await account(email)
    await account('unharmed@x.org')
    for (const at of [0, 0, 0, 0]) expect(await signIn(at, email)).toBe(WRONG)
    redis.freeze()
    await pileOn(0, email)
    expect(await signIn(0, email, GOOD)).toBe(BLOCKED)
    expect(await signIn(0, 'unharmed@x.org', GOOD)).toBe('in')
    redis.thaw()
    await connected()
    // What was counted alone has been handed in: the other replica knows of it.
    expect(await signIn(0, email, GOOD)).toBe(BLOCKED)
    expect(await signIn(1, email, GOOD)).toBe(BLOCKED)
  })

  test('keep working when Redis comes back empty', async () => {
    await account('empty@x.org')
    await redis.restart()
    expect(await signIn(0, 'empty@x.org', GOOD)).toBe('in')
    await connected()
    for (const at of [0, 1, 0, 1]) expect(await signIn(at, 'empty@x.org')).toBe(WRONG)
    await pileOn(0, 'empty@x.org')
    expect(await signIn(1, 'empty@x.org')).toBe(BLOCKED)
  })
})
