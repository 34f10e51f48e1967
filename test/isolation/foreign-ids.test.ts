import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type Ids, furnish, routesOf } from '#test/furnished-site.ts'
import type { Answer } from '#test/http-client.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** Ids of the same shape that never were. */
const NEVER: Ids = {
  table: 'res_0000000000000000',
  bucket: 'res_0000000000000001',
  fn: 'res_0000000000000002',
  operation: 'neverwas',
  job: 'neverjob',
  run: 'run_0000000000000000',
  iacJob: 'iac_0000000000000000',
  profile: 'neverprofile',
  group: 'nevergroup',
  user: 'never@example.test',
  visitor: '00000000-0000-4000-8000-000000000001',
  request: '00000000-0000-4000-8000-000000000000',
}

let stack: Stack
let one: RuntimeSite
let two: RuntimeSite
let ids: Ids
beforeAll(async () => {
  stack = await startStack()
  one = await RuntimeSite.open(stack, 'one.test')
  two = await RuntimeSite.open(stack, 'two.test')
  ids = await furnish(stack, one)
  await two.admin('POST', '/groups', { groupName: 'own' })
  await two.putOperation('own', { preset: { preset: 'echo' } })
  await two.admin('PUT', '/jobs/ownjob', { operation: 'own' })
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Without what differs from request to request, and with one word for each id. */
function comparable({ status, text, headers }: Answer, of: Ids): unknown {
  const same = Object.entries(of).reduce((all, [name, id]) => all.replaceAll(id, `<${name}>`), text)
  return {
    status,
    type: headers['content-type'],
    text: same
      .replaceAll(/"requestId":"[^"]*"/g, '"requestId":"<id>"')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'),
  }
}

describe('an id of another site', () => {
  test('is answered as one that never was, wherever it is sent', async () => {
    const before = await snapshot()
    const never = routesOf(NEVER)
    for (const [at, [method, path, body]] of routesOf(ids).entries()) {
      const [, otherPath = '', otherBody] = never[at] ?? []
      const foreign = await two.admin(method, path, body)
      const unknown = await two.admin(method, otherPath, otherBody)
      expect(comparable(foreign, ids), `${method} ${path}`).toEqual(comparable(unknown, NEVER))
      expect([200, 400, 404], `${method} ${path} ${foreign.text}`).toContain(foreign.status)
    }
    expect(await snapshot()).toEqual(before)
  })

  async function snapshot() {
    const paths = [
      '/resources',
      '/jobs/theirjob',
      '/groups',
      '/groups/theirgroup/users',
      '/users',
      '/iac/export',
      '/iac/definitions/theirprofile',
    ]
    return Promise.all(paths.map(async (path) => (await one.admin('GET', path)).json))
  }
})

describe('an Idempotency-Key', () => {
  const KEY = { 'idempotency-key': 'the-same-everywhere' }
  const start = (host: string, token: string, job: string, body: object = {}) =>
    stack.call(host, 'POST', `/admin/data/jobs/${job}`, { token, body, headers: KEY })

  test('is another one on another site, of another user and on another route', async () => {
    for (const site of [one, two]) {
      await site.putOperation('shared', { preset: { preset: 'echo' } })
      for (const job of ['first', 'second'])
        await site.admin('PUT', `/jobs/${job}`, { operation: 'shared' })
    }
    const tokens = {
      one: await stack.adminToken('one.test'),
      other: await stack.adminToken('one.test', 'admin'),
      two: await stack.adminToken('two.test'),
    }
    // A run that another one of its job meets is refused.
    const asked = async () => {
      const answers = await Promise.all([
        start('one.test', tokens.one, 'first'),
        start('one.test', tokens.one, 'second'),
        start('two.test', tokens.two, 'first'),
      ])
      await vi.waitUntil(async () => {
        const { json } = await one.admin('GET', '/jobs/first/runs')
        return json.items.every(({ status }: { status: string }) => status === 'succeeded')
      })
      return [...answers, await start('one.test', tokens.other, 'first')]
    }
    const [once, again] = [await asked(), await asked()]
    const runs = once.map(({ status, json }) => (status === 200 ? json.data.runId : status))
    expect(new Set(runs).size).toBe(4)
    expect(again.map(({ json }) => json.data.runId)).toEqual(runs)
    const definition = { mode: 'plan', definition: {} }
    const iac = await stack.call('one.test', 'POST', '/admin/data/iac/jobs', {
      token: tokens.one,
      body: definition,
      headers: KEY,
    })
    expect(iac.json.jobId).toMatch(/^iac_/)
  })

  test('is free after a failure, and kept over a restart', async () => {
    const token = await stack.adminToken('two.test')
    expect((await start('two.test', token, 'later')).status).toBe(404)
    await two.admin('PUT', '/jobs/later', { operation: 'own' })
    const first = await start('two.test', token, 'later')
    expect(first.status, first.text).toBe(200)
    await using replica = await startStack({ beside: stack, works: false })
    const there = (body: object) =>
      replica.call('two.test', 'POST', '/admin/data/jobs/later', { token, body, headers: KEY })
    expect((await there({})).json).toEqual(first.json)
    expect((await there({ trigger: 'other' })).status).toBe(422)
  })
})

describe('who may no longer', () => {
  const reading = ['/resources', '/jobs/theirjob', '/iac/export', '/env-vars', '/logs']

  let admin: { readonly token: string; readonly userId: string }
  beforeAll(async () => {
    admin = await administrator()
  })

  async function administrator(): Promise<{ token: string; userId: string }> {
    const token = await stack.adminToken('one.test', 'admin')
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect((await stack.call('one.test', 'GET', '/admin/data/jobs', { token })).status).toBe(200)
    return { token, userId: sub }
  }

  async function asAnn(method: string, path: string, body?: object) {
    const token = await stack.adminToken('one.test')
    const answer = await stack.call('one.test', method, `/admin/api${path}`, { token, body })
    expect(answer.status, answer.text).toBeLessThan(300)
  }

  test('is refused at once whose role was taken away', async () => {
    await asAnn('PATCH', `/users/${admin.userId}`, { role: 'user' })
    for (const path of reading) {
      const answer = await stack.call('one.test', 'GET', `/admin/data${path}`, admin)
      expect([401, 403], `${path} ${answer.text}`).toContain(answer.status)
    }
    const started = await stack.call('one.test', 'POST', '/admin/data/jobs/theirjob', admin)
    expect([401, 403]).toContain(started.status)
  })

  test('is refused at once who was deleted', async () => {
    await asAnn('DELETE', `/users/${admin.userId}`)
    for (const path of reading) {
      const answer = await stack.call('one.test', 'GET', `/admin/data${path}`, admin)
      expect(answer.status, `${path} ${answer.text}`).toBe(401)
    }
  })
})

describe('a page token of another site', () => {
  test('opens nothing', async () => {
    for (const n of [1, 2, 3]) {
      await one.admin('POST', `/resources/${ids.table}/data/ddb/put`, { item: { id: `${n}` } })
      await one.admin('POST', '/groups', { groupName: `page${n}` })
      await two.admin('POST', '/groups', { groupName: `page${n}` })
      await one.admin('POST', '/jobs/theirjob')
      await two.admin('POST', '/jobs/ownjob')
    }
    const lists = [
      '/groups?limit=1',
      '/jobs/JOB/runs?limit=1',
      '/logs?limit=1',
      '/iac/jobs?limit=1',
    ]
    await one.admin('POST', '/iac/jobs', { mode: 'plan', definition: {} })
    for (const list of lists) {
      const theirs = (await one.admin('GET', list.replace('JOB', 'theirjob'))).json.nextToken
      expect(theirs).toMatch(/^[\w-]{8,}$/)
      const used = await two.admin('GET', `${list.replace('JOB', 'ownjob')}&nextToken=${theirs}`)
      const garbage = await two.admin('GET', `${list.replace('JOB', 'ownjob')}&nextToken=AAAA`)
      expect(comparable(used, ids)).toEqual(comparable(garbage, ids))
      expect(used).toMatchObject({ status: 400 })
    }
  })
})
