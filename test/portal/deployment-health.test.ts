import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { AutoRollback } from '#sites/deployments/rollback-rule.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** A busy machine takes its time. */
const PATIENCE = { timeout: 30_000, interval: 50 }
const ON = { enabled: true, failurePercent: 50, minCalls: 8 }

let now = 0
const clock = { now: () => new Date(Date.now() + now) }
let first: Stack
let second: Stack
let desk: DeployDesk
beforeAll(async () => {
  first = await startStack({ sites: [], platform: { clock } })
  second = await startStack({ beside: first, platform: { clock } })
  desk = new DeployDesk(first)
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

/** Does what the payload says; `fails` makes every call fail. */
const version = (name: string, fails = false) => ({
  'work.ts': `export default ({ payload }: { payload: { do?: string } }): string => {
    if (${fails} || payload.do === 'fail') throw new Error('broken')
    if (payload.do === 'reject') throw { statusCode: 409, code: 'Nope', message: 'not now' }
    return ${JSON.stringify(name)}
  }`,
  'croft.json': JSON.stringify({
    resources: [{ type: 'lambdaFunction', name: 'work', config: { artifact: 'work.ts' } }],
    operations: [{ operation: 'work', lambdaResource: 'work', auth: { mode: 'public' } }],
  }),
})

async function siteWith(domain: string, autoRollback?: Partial<AutoRollback>) {
  const deploymentSettings = autoRollback === undefined ? {} : { autoRollback }
  await first.createSite({ domain, superAdmins: [`ann@${domain}`], deploymentSettings })
}

async function deploy(domain: string, files: Record<string, string>): Promise<string> {
  const deploymentId = await desk.deploy(domain, files)
  await first.synced(domain)
  await second.synced(domain)
  return deploymentId
}

const call = (stack: Stack, domain: string, what = 'answer') =>
  stack.call(domain, 'POST', '/data/public/work', { body: { payload: { do: what } } })

async function calls(stack: Stack, domain: string, what: string, count: number): Promise<void> {
  for (let made = 0; made < count; made++) await call(stack, domain, what)
}

const shown = async (domain: string, deploymentId: string) =>
  (await first.portal('GET', `/sites/${domain}/deployments/${deploymentId}`)).json

/** Resolves when so many calls of its newest activation are counted. */
const counted = (domain: string, deploymentId: string, wanted: number) =>
  vi.waitUntil(async () => {
    const { activations } = await shown(domain, deploymentId)
    const [newest] = activations
    return newest.health.calls === wanted ? newest : undefined
  }, PATIENCE)

const isCurrent = (domain: string, deploymentId: string) =>
  vi.waitUntil(async () => (await shown(domain, deploymentId)).current, PATIENCE)

describe('the health of a deployment', () => {
  test('is counted without the setting, and causes no rollback', async () => {
    await siteWith('counted.test')
    await deploy('counted.test', version('one'))
    const id = await deploy('counted.test', version('two'))
    await calls(first, 'counted.test', 'fail', 5)
    await calls(second, 'counted.test', 'fail', 4)
    await calls(second, 'counted.test', 'reject', 2)
    await calls(first, 'counted.test', 'answer', 3)
    expect(await counted('counted.test', id, 14)).toMatchObject({
      health: { calls: 14, failures: 9 },
      automaticRollback: null,
    })
    expect((await shown('counted.test', id)).current).toBe(true)
  })

  test('takes it back when too many calls fail on all replicas together, once, and says so', async () => {
    await siteWith('back.test', ON)
    await siteWith('beside.test', ON)
    const [good, theirs] = [
      await deploy('back.test', version('good')),
      await deploy('beside.test', version('theirs')),
    ]
    const bad = await deploy('back.test', version('bad'))
    await calls(first, 'back.test', 'fail', 4)
    await calls(second, 'back.test', 'fail', 4)

    await isCurrent('back.test', good)
    const { activations } = await shown('back.test', good)
    expect(activations).toMatchObject([
      {
        reason: 'automaticRollback',
        activatedBy: { type: 'service' },
        replacedDeploymentId: bad,
      },
      { reason: 'deploy' },
    ])
    expect((await shown('back.test', bad)).activations).toMatchObject([
      { health: { calls: 8, failures: 8 }, automaticRollback: { status: 'done', error: null } },
    ])
    await vi.waitUntil(async () => (await call(second, 'back.test')).json.data === 'good', PATIENCE)
    const token = await first.adminToken('back.test')
    await vi.waitUntil(async () => {
      const { json } = await first.call('back.test', 'GET', '/admin/data/logs', { token })
      return JSON.stringify(json).includes(`rolled back to \\"${good}\\"`)
    }, PATIENCE)
    expect((await shown('beside.test', theirs)).current).toBe(true)
  })

  test.each<[string, AutoRollback, string, number]>([
    ['calls are few', { ...ON, minCalls: 9 }, 'fail', 8],
    ['callers get an error', ON, 'reject', 10],
    ['the setting is off', { ...ON, enabled: false }, 'fail', 10],
    ['no more fail than may', { ...ON, failurePercent: 99 }, 'mixed', 10],
  ])('leaves it where %s', async (what, setting, kind, count) => {
    const domain = `${what.replaceAll(' ', '-')}.test`
    await siteWith(domain, setting)
    await deploy(domain, version('one'))
    const id = await deploy(domain, version('two'))
    if (kind === 'mixed') {
      await calls(first, domain, 'answer', 1)
      await calls(first, domain, 'fail', count - 1)
    } else {
      await calls(first, domain, kind, count)
    }
    expect((await counted(domain, id, count)).automaticRollback).toBeNull()
    expect((await shown(domain, id)).current).toBe(true)
  })

  test('is not counted after a minute', async () => {
    await siteWith('late.test', ON)
    await deploy('late.test', version('one'))
    const id = await deploy('late.test', version('two'))
    await calls(first, 'late.test', 'fail', 3)
    now += 61_000
    try {
      await calls(first, 'late.test', 'fail', 10)
      // Of another deployment, so that what was counted of the first is written.
      const next = await deploy('late.test', version('three'))
      await calls(first, 'late.test', 'answer', 1)
      await counted('late.test', next, 1)
      expect((await shown('late.test', id)).activations).toMatchObject([
        { health: { calls: 3, failures: 3 }, automaticRollback: null },
      ])
    } finally {
      now -= 61_000
    }
  })

  test('does not judge what it has gone back to', async () => {
    await siteWith('once.test', ON)
    const one = await deploy('once.test', version('one', true))
    await calls(first, 'once.test', 'fail', 9)
    // There is nothing before it.
    expect((await counted('once.test', one, 9)).automaticRollback).toBeNull()
    const two = await deploy('once.test', version('two', true))
    await calls(first, 'once.test', 'fail', 9)
    await isCurrent('once.test', one)
    await first.synced('once.test')
    await calls(first, 'once.test', 'fail', 20)
    const judged = await counted('once.test', one, 20)
    expect(judged).toMatchObject({ reason: 'automaticRollback', automaticRollback: null })
    expect(await shown('once.test', one)).toMatchObject({ current: true })
    expect((await shown('once.test', two)).activations).toHaveLength(1)
  })

  test('is kept through a restart', async () => {
    await siteWith('restart.test', ON)
    const good = await deploy('restart.test', version('good'))
    const bad = await deploy('restart.test', version('bad'))
    const before = await startStack({ beside: first, works: false, platform: { clock } })
    await calls(before, 'restart.test', 'fail', 5)
    await before[Symbol.asyncDispose]()
    expect((await counted('restart.test', bad, 5)).automaticRollback).toBeNull()
    await using after = await startStack({ beside: first, works: false, platform: { clock } })
    await calls(after, 'restart.test', 'fail', 4)
    await isCurrent('restart.test', good)
  })

  test('says why a deployment could not be rolled back, and leaves it', async () => {
    await siteWith('stuck.test', ON)
    await deploy('stuck.test', version('good'))
    const bad = await deploy('stuck.test', version('bad'))
    const repoBinding = { artifactDirectory: 'public' }
    expect((await first.portal('PATCH', '/sites/stuck.test', { repoBinding })).status).toBe(200)
    await first.synced('stuck.test')
    await calls(first, 'stuck.test', 'fail', 9)
    const judged = await vi.waitUntil(async () => {
      const [newest] = (await shown('stuck.test', bad)).activations
      return newest.automaticRollback?.status === 'failed' ? newest : undefined
    }, PATIENCE)
    expect(judged.automaticRollback.error).toContain('ARTIFACT_DIR')
    expect((await shown('stuck.test', bad)).current).toBe(true)
  })

  test.each([
    [{ failurePercent: 0 }],
    [{ failurePercent: 100 }],
    [{ minCalls: 0 }],
    [{ minCalls: 1.5 }],
    [{ enabled: 'yes' }],
    [{}],
    [{ seconds: 60 }],
  ])('is not judged by %j', async (autoRollback) => {
    await siteWith('wrong.test').catch(() => undefined)
    const body = { deploymentSettings: { autoRollback } }
    expect((await first.portal('PATCH', '/sites/wrong.test', body)).status).toBe(400)
  })
})
