import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { serverSentEvents } from '#test/http-client.ts'
import { asAdmin } from '#test/postgres.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const TALKER = `export default ({ payload }) => {
  console.debug('debug ' + payload)
  console.log('info ' + payload)
  console.error('error ' + payload)
  if (payload === 'fail') throw new Error('deliberate failure')
}`

let stack: Stack
let site: RuntimeSite
let two: RuntimeSite
beforeAll(async () => {
  stack = await startStack()
  site = await RuntimeSite.open(stack, 'one.test')
  two = await RuntimeSite.open(stack, 'two.test')
  await site.publish('talk', TALKER)
  await site.publish('whisper', 'export default () => console.log("psst")')
})
afterAll(() => stack[Symbol.asyncDispose]())

interface Line {
  readonly logId: string
  readonly message: string
  readonly level: string
}
const list = async (query: string): Promise<{ items: Line[]; nextToken: string | null }> => {
  const answer = await site.admin('GET', `/logs?${query}`)
  expect(answer).toMatchObject({ status: 200 })
  return answer.json
}
/** Lines reach the service with the batches of a host: a moment after the answer. */
const eventually = (query: string, count: number) =>
  expect.poll(async () => (await list(query)).items.length, { timeout: 30_000 }).toBe(count)

describe('the log of a site', () => {
  test('has what its code printed, newest first, with operation and request', async () => {
    const { headers, status } = await site.call('talk', 'one')
    expect(status).toBe(200)
    const requestId = headers['x-request-id'] ?? ''
    await eventually(`requestId=${requestId}`, 3)
    const { items } = await list(`requestId=${requestId}`)
    expect(items.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'error: error one',
      'info: info one',
      'debug: debug one',
    ])
    expect(items[0]).toMatchObject({ operation: 'talk', requestId, kind: 'console' })
  })

  test('has why a call failed', async () => {
    const { headers, text } = await site.call('talk', 'fail')
    expect(text).not.toContain('deliberate')
    const query = `requestId=${headers['x-request-id']}&level=error`
    await eventually(query, 2)
    const { items } = await list(query)
    const failure = items.find(({ message }) => message.includes('deliberate failure'))
    expect(failure).toMatchObject({ kind: 'failure', fields: { code: 'OperationFailed' } })
  })

  test('is filtered by operation, level and time', async () => {
    await site.call('whisper')
    await eventually('operation=whisper', 1)
    expect((await list('operation=whisper&level=warn')).items).toEqual([])
    expect((await list('operation=whisper&since=2099-01-01')).items).toEqual([])
    expect((await list('operation=whisper&until=2020-01-01T00:00:00Z')).items).toEqual([])
  })

  test('is walked to its end by nextToken, each line once', async () => {
    for (const word of ['a', 'b', 'c']) await site.call('talk', word)
    await expect
      .poll(async () => (await list('operation=talk&limit=100')).items.length)
      .toBeGreaterThanOrEqual(9)
    const all = (await list('operation=talk&limit=100')).items.map(({ logId }) => logId)
    const walked: string[] = []
    let token: string | null = ''
    while (token !== null) {
      const query: string = `operation=talk&limit=2${token === '' ? '' : `&nextToken=${token}`}`
      const page = await list(query)
      walked.push(...page.items.map(({ logId }) => logId))
      token = page.nextToken
    }
    expect(walked).toEqual(all)
  })

  test.each([
    ['an unknown level', 'level=loud', 'level'],
    ['no time', 'since=yesterday', 'since'],
    ['another word than true', 'follow=yes', 'follow'],
    ['no number', 'limit=many', 'limit'],
  ])('is refused with %s', async (_what, query, field) => {
    expect(await site.admin('GET', `/logs?${query}`)).toMatchObject({
      status: 400,
      json: { error: { details: [{ field }] } },
    })
  })

  test('refuses a token that was made for other filters', async () => {
    const page = await list('operation=talk&limit=1')
    const answer = await site.admin('GET', `/logs?operation=whisper&nextToken=${page.nextToken}`)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidNextToken' } } })
  })

  test('is written whatever the log of another site waits for', async () => {
    const waits = await stack.context.sites.find('one.test')
    const goesOn = await stack.context.sites.find('two.test')
    const say = (siteId: string, message: string) =>
      stack.context.runtimeLogs.platform({ siteId, level: 'info', message })
    await asSuperuser(stack, (sql) =>
      sql.begin(async (holding) => {
        const { siteId } = waits
        await holding`select pg_advisory_xact_lock(hashtext('runtime_log'), hashtext(${siteId}))`
        say(siteId, 'after the other replica')
        const waiting = () => holding`
          select pid from pg_locks
          where not granted
            and database = (select oid from pg_database where datname = current_database())`
        await expect.poll(async () => (await waiting()).length).toBe(1)
        say(goesOn.siteId, 'at once')
        const { items } = (await two.admin('GET', '/logs')).json
        expect(items).toMatchObject([{ message: 'at once' }])
        expect(await waiting()).toHaveLength(1)
      }),
    )
    await expect
      .poll(async () => (await list('limit=1')).items)
      .toMatchObject([{ message: 'after the other replica' }])
  })

  test('shows nothing of another site', async () => {
    const { siteId } = await stack.context.sites.find('one.test')
    stack.context.runtimeLogs.platform({ siteId, level: 'info', message: 'of one' })
    expect((await list('limit=1')).items).toMatchObject([{ message: 'of one' }])
    expect((await two.admin('GET', '/logs')).text).not.toContain('of one')
  })
})

describe('the live log', () => {
  const follow = async (query: string, headers: Record<string, string> = {}) =>
    serverSentEvents({
      port: stack.port,
      host: 'one.test',
      path: `/admin/data/logs?${query}`,
      headers: { authorization: `Bearer ${await stack.adminToken('one.test')}`, ...headers },
    })

  test('shows lines as they are written, and resumes after the last one seen', async () => {
    const events = await follow('operation=talk&level=error')
    const next = events.next()
    // The stream starts at the end of the log: write until it receives a line.
    const speaking = setInterval(() => void site.call('talk', 'live'), 100)
    const first = await next.finally(() => clearInterval(speaking))
    expect(first.value).toMatchObject({ event: 'log', id: expect.stringMatching(/^\d+$/) })
    expect(JSON.parse(first.value?.data ?? '')).toMatchObject({ message: 'error live' })
    await events.return(undefined)

    await site.call('talk', 'missed')
    const resumed = await follow('operation=talk&level=error', {
      'last-event-id': first.value?.id ?? '',
    })
    for await (const { id, data } of resumed) {
      expect(BigInt(id ?? '')).toBeGreaterThan(BigInt(first.value?.id ?? ''))
      if (data.includes('error missed')) break
    }
  })

  test('ends when the service drains', async () => {
    const beside = await startStack({ beside: stack })
    const events = serverSentEvents({
      port: beside.port,
      host: 'one.test',
      path: '/admin/data/logs?follow=true&since=2020-01-01',
      headers: { authorization: `Bearer ${await stack.adminToken('one.test')}` },
    })
    expect((await events.next()).done).toBe(false)
    await beside[Symbol.asyncDispose]()
    let ended = false
    while (!ended) ended = (await events.next()).done === true
    expect(ended).toBe(true)
  })

  test.each<[string, (ann: Member, who: Member) => Promise<{ readonly status: number }>]>([
    ['was deleted', (ann, { userId }) => ann.call('DELETE', `/users/${userId}`)],
    [
      'was made a user',
      (ann, { userId }) => ann.call('PATCH', `/users/${userId}`, { body: { role: 'user' } }),
    ],
    [
      'was signed out',
      (_ann, { email }) =>
        stack.portal('DELETE', `/sites/one.test/sessions?user=${email}&pool=admin`),
    ],
  ])('ends for an admin who %s, before the next line', async (what, end) => {
    const pool = new AdminPool(stack, 'one.test')
    const who = await pool.joined('admin')
    await site.call('talk', 'before')
    const events = serverSentEvents({
      port: stack.port,
      host: 'one.test',
      path: '/admin/data/logs?follow=true&since=2020-01-01',
      headers: { authorization: `Bearer ${who.token}` },
    })
    expect((await events.next()).done).toBe(false)
    expect((await end(await pool.first(), who)).status).toBeLessThan(300)
    await site.call('talk', `unseen since ${what}`)
    let seen = ''
    for await (const { data } of events) seen += data
    expect(seen).not.toContain(`unseen since ${what}`)
  })

  test('is open to at most twenty at once for a site', async () => {
    await using beside = await startStack({ beside: stack })
    const token = await stack.adminToken('one.test')
    const open = () =>
      serverSentEvents({
        port: beside.port,
        host: 'one.test',
        path: '/admin/data/logs?follow=true&since=2020-01-01',
        headers: { authorization: `Bearer ${token}` },
      })
    const streams = Array.from({ length: 20 }, open)
    await Promise.all(streams.map((stream) => stream.next()))
    const refused = await beside.call('one.test', 'GET', '/admin/data/logs?follow=true', { token })
    expect(refused).toMatchObject({ status: 429, json: { error: { code: 'TooManyRequests' } } })
    await Promise.all(streams.map((stream) => stream.return(undefined)))
    await expect
      .poll(async () => {
        const stream = open()
        const opened = await stream.next().then(
          () => true,
          () => false,
        )
        await stream.return(undefined)
        return opened
      })
      .toBe(true)
  })

  test('answers HEAD with its headers, and follows nothing', async () => {
    const answer = await site.admin('HEAD', '/logs?follow=true')
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } })
  })

  test('leaves no place taken when it fails, or is given up', async () => {
    const { siteId } = await stack.context.sites.find('two.test')
    const { signal } = new AbortController()
    const follow = () => stack.context.runtimeLogs.follow(siteId, {}, { after: '0', signal })
    const renamed = (from: string, to: string) =>
      asAdmin((admin) => admin.unsafe(`alter table ${from} rename to ${to}`), stack.database.url)
    await renamed('runtime_log', 'hidden_log')
    try {
      for (let times = 0; times < 25; times += 1)
        await expect(follow().next()).rejects.toThrow('runtime_log')
    } finally {
      await renamed('hidden_log', 'runtime_log')
    }
    for (let times = 0; times < 25; times += 1) {
      const lines = follow()
      const first = lines.next()
      stack.context.runtimeLogs.platform({ siteId, level: 'info', message: `line ${times}` })
      expect((await first).done).toBe(false)
      await lines.return()
    }
  })
})
