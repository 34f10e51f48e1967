import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { objectKey } from '#platform/objects/object-store.ts'
import { createClient } from '#platform/postgres/client.ts'
import type { Answer } from '#test/http-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const create = async (domain: string, fields: object = {}) => {
  const answer = await stack.portal('POST', '/sites', { domain, ...fields })
  expect(answer).toMatchObject({ status: 200 })
  return answer.json
}
const repo = { url: 'https://git.example/ann/x.git', branch: 'main', artifactDirectory: 'dist' }

describe('a new site', () => {
  test('has every default filled in and an onboarding link for each super-admin', async () => {
    const { onboarding, ...site } = await create('fresh.test', {
      superAdmins: ['Ann@fresh.test', 'ann@fresh.test', 'bob@x.test'],
    })
    expect(site).toEqual({
      siteId: expect.stringMatching(/^site_[a-z0-9]{12}$/),
      domain: 'fresh.test',
      adminDomain: null,
      authDomain: null,
      formerAuthDomains: [],
      region: 'eu-central-1',
      sourceMode: 'SITE_GIT',
      repo: null,
      repoBinding: { branch: 'main', artifactDirectory: 'dist' },
      deploymentSettings: {
        egress: { allow: ['*'] },
        cors: { origins: [] },
        limits: {},
        autoRollback: { enabled: false, failurePercent: 50, minCalls: 20 },
      },
      currentDeploymentId: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
    expect(onboarding).toEqual([
      { email: 'ann@fresh.test', url: expect.stringContaining('http://fresh.test:') },
      { email: 'bob@x.test', url: expect.stringContaining('http://fresh.test:') },
    ])
  })

  test('answers on its domain at once, however the host is written', async () => {
    const { siteId } = await create('hosts.test')
    for (const host of ['hosts.test', 'HOSTS.test:99', 'hosts.test.']) {
      const { json } = await stack.call(host, 'GET', '/admin/public/config')
      expect(json.siteId).toBe(siteId)
    }
  })

  test('is found at once under a name that was just looked up without success', async () => {
    expect(await stack.call('eager.test', 'GET', '/admin/public/config')).toMatchObject({
      status: 404,
    })
    await create('eager.test')
    expect(await stack.call('eager.test', 'GET', '/admin/public/config')).toMatchObject({
      status: 200,
    })
  })

  test('can have an external repository as its source', async () => {
    const site = await create('external.test', { region: 'us-east-1', repo })
    expect(site).toMatchObject({
      region: 'us-east-1',
      sourceMode: 'EXTERNAL_REPO',
      repo,
      repoBinding: null,
    })
  })

  test('cannot take a domain that another site has, and leaves nothing behind', async () => {
    await create('taken.test')
    const answer = await stack.portal('POST', '/sites', {
      domain: 'taken.test',
      superAdmins: ['eve@taken.test'],
    })
    expect(answer).toMatchObject({ status: 409, json: { error: { code: 'SiteAlreadyExists' } } })
    const shown = await stack.portal('GET', '/sites/taken.test')
    expect(shown.json.superAdmins).toEqual([])
  })

  test('wins alone when two ask for its domain at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => stack.portal('POST', '/sites', { domain: 'race.test' })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(3)
  })

  test.each<[string, unknown, string]>([
    ['no body', undefined, ''],
    ['no domain', {}, 'domain'],
    ['an upper-case domain', { domain: 'X.test' }, 'domain'],
    ['a port', { domain: 'x.test:80' }, 'domain'],
    ['an address', { domain: '10.0.0.1' }, 'domain'],
    ['a domain of another type', { domain: 7 }, 'domain'],
    ['a wrong region', { domain: 'x.test', region: 'europe' }, 'region'],
    ['a wrong mode', { domain: 'x.test', sourceMode: 'FTP' }, 'sourceMode'],
    ['both sources', { domain: 'x.test', repo, repoBinding: {} }, 'repoBinding'],
    ['a file URL', { domain: 'x.test', repo: { url: 'file:///etc' } }, 'repo.url'],
    [
      'a climbing directory',
      { domain: 'x.test', repoBinding: { artifactDirectory: '..' } },
      'repo',
    ],
    ['a wrong address', { domain: 'x.test', superAdmins: ['ann'] }, 'superAdmins'],
    ['an unknown field', { domain: 'x.test', colour: 'red' }, 'colour'],
    ['an unknown field inside', { domain: 'x.test', repo: { ...repo, tag: 'x' } }, 'tag'],
    [
      'a limit out of bounds',
      { domain: 'x.test', deploymentSettings: { limits: { concurrency: 0 } } },
      'concurrency',
    ],
    [
      'a wrong origin',
      { domain: 'x.test', deploymentSettings: { cors: { origins: ['*'] } } },
      'cors.origins',
    ],
  ])('is refused with %s', async (_what, body, field) => {
    const answer = await stack.portal('POST', '/sites', body)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(JSON.stringify(answer.json.error)).toContain(field)
  })

  test.each([-1, 1.5, 1e30, 2 ** 50 + 1, '5', true])(
    'gets an error that says what a limit may be, instead of %j',
    async (tableBytes) => {
      const deploymentSettings = { limits: { tableBytes } }
      const answer = await stack.portal('PATCH', '/sites/one.test', { deploymentSettings })
      expect(answer.status).toBe(400)
      expect(answer.json.error.message).toBe(
        'deploymentSettings.limits.tableBytes: must be a whole number from 0 to 1125899906842624, or null for the default',
      )
    },
  )

  test('is refused when the body is not JSON', async () => {
    const answer = await stack.call('localhost', 'POST', '/portal/api/sites', {
      token: stack.operatorKey,
      headers: { 'content-type': 'application/json' },
      body: '{"domain":',
    })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidJson' } } })
  })
})

describe('the directory', () => {
  test('is walked by nextToken to its end, in order', async () => {
    const seen: string[] = []
    for (let token: string | null = ''; token !== null;) {
      const next: string = token === '' ? '' : `&nextToken=${token}`
      const { json } = await stack.portal('GET', `/sites?limit=2${next}`)
      expect(json.items.length).toBeLessThanOrEqual(2)
      seen.push(...json.items.map((site: { domain: string }) => site.domain))
      token = json.nextToken
    }
    expect(seen).toEqual([...new Set(seen)].sort())
    expect(seen).toEqual(expect.arrayContaining(['one.test', 'two.test']))
  })

  test('refuses a token of its own making only', async () => {
    const answer = await stack.portal('GET', '/sites?nextToken=AAAA')
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidNextToken' } } })
  })
})

describe('a site', () => {
  test('is shown by id and by domain, with its super-admins and its runtime’s state', async () => {
    const { json } = await stack.portal('GET', '/sites/one.test')
    expect(json).toMatchObject({ superAdmins: ['ann@one.test'] })
    expect(json.permissionsSync.status).toMatch(/^(queued|running|succeeded)$/)
    expect((await stack.portal('GET', `/sites/${json.siteId}`)).json.domain).toBe('one.test')
  })

  test('keeps what a change leaves out', async () => {
    const { siteId } = await create('change.test', { repo })
    const changed = await stack.portal('PATCH', `/sites/${siteId}`, {
      repo: { branch: 'next' },
      deploymentSettings: { limits: { cpuMs: 50 } },
    })
    expect(changed).toMatchObject({
      status: 200,
      json: {
        domain: 'change.test',
        repo: { ...repo, branch: 'next' },
        deploymentSettings: { egress: { allow: ['*'] }, limits: { cpuMs: 50 } },
      },
    })
    const switched = await stack.portal('PATCH', '/sites/change.test', { sourceMode: 'SITE_GIT' })
    expect(switched.json).toMatchObject({
      repo: null,
      repoBinding: { branch: 'main', artifactDirectory: 'dist' },
    })
  })

  test('moves to another domain, and the old one is free', async () => {
    const { siteId } = await create('old.test')
    await stack.call('old.test', 'GET', '/admin/public/config')
    await stack.portal('PATCH', '/sites/old.test', { domain: 'new.test' })
    const moved = await stack.call('new.test', 'GET', '/admin/public/config')
    expect(moved.json).toMatchObject({ siteId, siteDomain: 'new.test' })
    expect(await stack.call('old.test', 'GET', '/admin/public/config')).toMatchObject({
      status: 404,
    })
  })

  test.each<[string, unknown, number, string]>([
    ['nothing', {}, 400, 'ValidationError'],
    ['another region', { region: 'us-east-1' }, 409, 'ImmutableField'],
    ['the other mode’s source', { repo }, 400, 'ValidationError'],
    ['another site’s domain', { domain: 'two.test' }, 409, 'SiteAlreadyExists'],
    ['an unknown field', { siteId: 'site_x' }, 400, 'ValidationError'],
  ])('refuses to change %s', async (_what, body, status, code) => {
    const answer = await stack.portal('PATCH', '/sites/one.test', body)
    expect(answer).toMatchObject({ status, json: { error: { code } } })
  })

  test('goes only when the wish is confirmed', async () => {
    await create('kept.test')
    for (const body of [undefined, {}, { confirm: false }]) {
      const answer = await stack.portal('DELETE', '/sites/kept.test', body)
      expect(answer).toMatchObject({
        status: 400,
        json: { error: { code: 'ConfirmationRequired' } },
      })
    }
    expect((await stack.portal('DELETE', '/sites/kept.test?confirm=true')).status).toBe(204)
  })

  test('goes with everything it has, and leaves the others alone', async () => {
    const { siteId } = await create('gone.test', { superAdmins: ['ann@gone.test'] })
    await stack.call('gone.test', 'GET', '/admin/public/config')
    const token = await stack.adminToken('gone.test')
    const made = await stack.call('gone.test', 'POST', '/admin/data/resources', {
      token,
      body: { type: 'lambdaFunction', name: 'f', config: { code: 'export default () => 1' } },
    })
    const bound = await stack.call('gone.test', 'POST', '/admin/data/operations', {
      token,
      body: { operation: 'f', lambdaResourceId: made.json.resourceId, auth: { mode: 'public' } },
    })
    expect(bound.status).toBe(200)
    await stack.synced('gone.test')
    const object = objectKey(siteId, 'buckets', 'anything')
    await stack.context.objects.put(object, Buffer.from('x'))

    const answer = await stack.portal('DELETE', '/sites/gone.test', { confirm: true })
    expect(answer).toMatchObject({ status: 204, text: '' })
    for (const path of ['/admin/public/config', '/data/auth/config']) {
      expect(await stack.call('gone.test', 'GET', path)).toMatchObject({ status: 404 })
    }
    expect(await stack.call('gone.test', 'POST', '/data/public/f', { body: {} })).toMatchObject({
      status: 404,
      json: { error: { code: 'SiteNotFound' } },
    })
    expect((await stack.portal('GET', `/sites/${siteId}`)).status).toBe(404)
    expect((await stack.portal('GET', '/sites/one.test')).status).toBe(200)
    await vi.waitUntil(async () => !(await stack.context.objects.head(object)), { timeout: 15_000 })
  })

  test('can move to another domain while a sync holds what the move needs, and needs what it holds', async () => {
    const { siteId } = await create('moving.test')
    await stack.synced('moving.test')
    const url = stack.database.url
    const [sync, watcher] = [createClient({ url, max: 1 }), createClient({ url, max: 1 })]
    const blocked = () => watcher`
      select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    const { promise: moved, resolve } = Promise.withResolvers<Answer>()
    await sync.begin(async (sql) => {
      await sql`select 1 from site_runtime where site_id = ${siteId} for update`
      void stack.portal('PATCH', `/sites/${siteId}`, { domain: 'moved.test' }).then(resolve)
      await vi.waitUntil(async () => (await blocked()).length > 0, { timeout: 30_000, interval: 5 })
      await sql`select 1 from site where site_id = ${siteId} for key share`
    })
    expect((await moved).json).toMatchObject({ siteId, domain: 'moved.test' })
    await Promise.all([sync.end(), watcher.end()])
  })

  test('can go in the middle of its work', async () => {
    for (const round of [1, 2, 3]) {
      const { siteId } = await create(`busy-${round}.test`)
      const token = await stack.portal('POST', `/sites/${siteId}/tokens`, {
        user: 'v@x.test',
        pool: 'data',
      })
      expect(token.status).toBe(200)
      const reconciles = Array.from({ length: 5 }, () =>
        stack.context.permissionSync.reconcile(siteId).catch((error: unknown) => error),
      )
      const answer = await stack.portal('DELETE', `/sites/${siteId}`, { confirm: true })
      expect(answer).toMatchObject({ status: 204 })
      await Promise.all(reconciles)
    }
  })

  test.each(['site_aaaaaaaaaaaa', 'nobody.test', '..', '%00'])('%j is not there', async (site) => {
    const answer = await stack.portal('GET', `/sites/${site}/deployments`)
    expect(answer.status).toBe(404)
  })
})

describe('the portal', () => {
  const ROUTES = [
    ['POST', '/sites'],
    ['GET', '/sites'],
    ['GET', '/sites/one.test'],
    ['PATCH', '/sites/one.test'],
    ['DELETE', '/sites/one.test?confirm=true'],
    ['POST', '/sites/one.test/deployments'],
    ['GET', '/sites/one.test/deployments'],
    ['POST', '/sites/one.test/deployments/fetch'],
    ['GET', '/sites/one.test/deployments/current'],
    ['GET', '/sites/one.test/deployments/dep_x'],
    ['PUT', `/sites/one.test/deployments/dep_x/files/${'a'.repeat(64)}`],
    ['POST', '/sites/one.test/deployments/dep_x/activate'],
  ] as const

  test.each(ROUTES)('keeps %s %s to the operator', async (method, path) => {
    const admin = await stack.adminToken('one.test')
    for (const token of [undefined, 'wrong', admin, `${stack.operatorKey}x`]) {
      const answer = await stack.call('one.test', method, `/portal/api${path}`, {
        token,
        body: method === 'GET' ? undefined : { nonsense: true },
      })
      expect(answer).toMatchObject({ status: 401, json: { error: { code: 'Unauthorized' } } })
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    }
  })
})
