import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { SITE_DEFINITION_FILE } from '#sites/static-settings.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { carryOut, ended } from '#test/iac.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SITES = ['one.test', 'two.test'] as const
const PAYLOAD = 'a-payload-that-stays-private'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: SITES })
})
afterAll(() => stack[Symbol.asyncDispose]())

interface Entry {
  readonly event: string
  readonly actor: string
  readonly address: string | null
  readonly requestId: string | null
  readonly detail: Readonly<Record<string, unknown>>
}

/** Of changes to operations and jobs, oldest first. */
async function entriesOf(host: string): Promise<readonly Entry[]> {
  const { json } = await stack.portal('GET', `/sites/${host}/audit?limit=100`)
  const items: readonly Entry[] = json.items
  return items.filter(({ event }) => /^(?:operation|job)\./.test(event)).toReversed()
}

/** What `change` adds to the trail. */
async function added(host: string, change: () => Promise<unknown>): Promise<readonly Entry[]> {
  const before = (await entriesOf(host)).length
  await change()
  return (await entriesOf(host)).slice(before)
}

const shown = ({ event, detail }: Entry) => [event, detail]
const say = (auth?: object, rest: object = {}) => ({
  operation: 'say',
  preset: { preset: 'echo' },
  ...(auth && { auth }),
  ...rest,
})
const definitionOf = (mode: string, cron: string) => ({
  operations: [{ operation: 'said', preset: 'echo', auth: { mode } }],
  jobs: [{ jobId: 'hourly', operation: 'said', payload: PAYLOAD, schedule: { cron } }],
})
const WITH_IDS = { iacJobId: expect.stringMatching(/^iac_/) }

describe('the audit trail of operations and jobs', () => {
  test.each(SITES)('has what an admin changes, with the values before, %s', async (host) => {
    const site = await RuntimeSite.open(stack, host)
    await site.putGroups('staff', 'editors')
    const nightly = { operation: 'say', schedule: { cron: '5 4 * * *' }, payload: PAYLOAD }
    const entries = await added(host, async () => {
      await site.putOperation('say', say())
      await site.putOperation('say', say())
      await site.putOperation('say', say({ mode: 'groups', groups: ['staff', 'editors'] }))
      await site.putOperation('say', say({ mode: 'public' }, { cache: { ttlSeconds: 60 } }))
      await site.admin('PUT', '/jobs/nightly', nightly)
      await site.admin('PUT', '/jobs/nightly', nightly)
      await site.admin('PUT', '/jobs/nightly', { ...nightly, payload: 2, enabled: false })
      await site.admin('POST', '/jobs/nightly')
      expect((await site.admin('DELETE', '/jobs/nightly')).status).toBe(200)
      expect((await site.admin('DELETE', '/operations/say')).status).toBe(200)
    })
    const operation = { operation: 'say' }
    const job = { jobId: 'nightly' }
    const calls = { operation: 'say', cron: '5 4 * * *', runAs: 'system' }
    expect(entries.map(shown)).toEqual([
      ['operation.created', { ...operation, preset: 'echo', mode: 'authenticated' }],
      [
        'operation.changed',
        {
          ...operation,
          mode: 'groups',
          modeBefore: 'authenticated',
          groups: 'staff editors',
          groupsBefore: '',
        },
      ],
      [
        'operation.changed',
        {
          ...operation,
          mode: 'public',
          modeBefore: 'groups',
          groups: '',
          groupsBefore: 'staff editors',
          cacheTtlSeconds: 60,
          cacheTtlSecondsBefore: '',
        },
      ],
      ['job.created', { ...job, ...calls, enabled: true }],
      ['job.changed', { ...job, enabled: false, enabledBefore: true, changed: 'payload' }],
      ['job.started', { ...job, runId: expect.stringMatching(/./) }],
      ['job.deleted', { ...job, ...calls, enabled: false }],
      ['operation.deleted', { ...operation, preset: 'echo', mode: 'public', cacheTtlSeconds: 60 }],
    ])
    const { sub } = decodeJwt(await stack.adminToken(host))
    for (const { actor, address, requestId } of entries) {
      expect([actor, address]).toEqual([sub, '127.0.0.1'])
      expect(requestId).toMatch(/./)
    }
    expect(JSON.stringify(entries)).not.toContain(PAYLOAD)
  })

  test.each(SITES)('has each change of a definition, and who sent it, %s', async (host) => {
    const site = await RuntimeSite.open(stack, host)
    const made = await stack.portal('POST', `/sites/${host}/deploy-tokens`, {
      name: 'CI',
      scopes: ['deploy', 'iac'],
    })
    const { tokenId, token } = made.json
    const sub = decodeJwt(await stack.adminToken(host)).sub ?? ''
    const send = async (key: string, definition: object) => {
      const path = `/portal/api/sites/${host}/iac/jobs`
      const body = { mode: 'apply', definition }
      const sent = await stack.call('localhost', 'POST', path, { token: key, body })
      expect(sent.status, sent.text).toBe(200)
      return ended(site, sent.json.jobId)
    }
    const entries = await added(host, async () => {
      await carryOut(site, 'apply', definitionOf('authenticated', '0 1 * * *'))
      await send(token, definitionOf('public', '0 1 * * *'))
      await send(stack.operatorKey, definitionOf('public', '0 2 * * *'))
      const renamed = { operation: 'spoken', renamedFrom: 'said', preset: 'echo' }
      await carryOut(site, 'apply', { operations: [{ ...renamed, auth: { mode: 'public' } }] })
      await carryOut(site, 'replace', { operations: [], jobs: [] }, { confirm: true })
    })
    expect(entries.map(({ event, actor, detail }) => [event, actor, detail])).toEqual([
      [
        'operation.created',
        sub,
        { operation: 'said', preset: 'echo', mode: 'authenticated', ...WITH_IDS },
      ],
      [
        'job.created',
        sub,
        expect.objectContaining({ jobId: 'hourly', cron: '0 1 * * *', ...WITH_IDS }),
      ],
      [
        'operation.changed',
        `deploy-token:${tokenId}`,
        { operation: 'said', mode: 'public', modeBefore: 'authenticated', ...WITH_IDS },
      ],
      [
        'job.changed',
        'operator',
        { jobId: 'hourly', cron: '0 2 * * *', cronBefore: '0 1 * * *', ...WITH_IDS },
      ],
      ['operation.changed', sub, { operation: 'spoken', operationBefore: 'said', ...WITH_IDS }],
      ['job.deleted', sub, expect.objectContaining({ jobId: 'hourly', ...WITH_IDS })],
      ['operation.deleted', sub, expect.objectContaining({ operation: 'spoken', ...WITH_IDS })],
    ])
    expect(JSON.stringify(entries)).not.toContain(PAYLOAD)
  })

  test.each(SITES)('has what a deployment changes, and who deployed, %s', async (host) => {
    const site = await RuntimeSite.open(stack, host)
    const desk = new DeployDesk(stack)
    const made = await stack.portal('POST', `/sites/${host}/deploy-tokens`, { name: 'CI' })
    const files = (mode: string) => ({
      [SITE_DEFINITION_FILE]: JSON.stringify(definitionOf(mode, '0 3 * * *')),
    })
    const carriedOut = async (deploymentId: string) => {
      const path = `/sites/${host}/deployments/${deploymentId}/iac-job`
      const { json } = await stack.portal('GET', path)
      await ended(site, json.job.jobId)
    }
    const ids: string[] = []
    const entries = await added(host, async () => {
      ids.push(await desk.deploy(host, files('authenticated')))
      await carriedOut(ids[0] ?? '')
      ids.push(await desk.upload(host, files('public')))
      const path = `/portal/api/sites/${host}/deployments/${ids[1]}/activate`
      const { token } = made.json
      expect((await stack.call('localhost', 'POST', path, { token })).status).toBe(200)
      await carriedOut(ids[1] ?? '')
    })
    const of = (index: number) => ({ deploymentId: ids[index], ...WITH_IDS })
    expect(entries.map(({ event, actor, detail }) => [event, actor, detail])).toEqual([
      [
        'operation.created',
        'operator',
        { operation: 'said', preset: 'echo', mode: 'authenticated', ...of(0) },
      ],
      ['job.created', 'operator', expect.objectContaining({ jobId: 'hourly', ...of(0) })],
      [
        'operation.changed',
        'deployToken CI',
        { operation: 'said', mode: 'public', modeBefore: 'authenticated', ...of(1) },
      ],
    ])
  })

  test('has nothing of what was refused or rolled back', async () => {
    const host = 'two.test'
    const site = await RuntimeSite.open(stack, host)
    await site.putOperation('used', { preset: { preset: 'echo' } })
    await site.admin('PUT', '/jobs/uses', { operation: 'used' })
    const user = await stack.adminToken(host, 'user')
    const other = await stack.adminToken('one.test')
    const entries = await added(host, async () => {
      const refused = [
        await site.admin('DELETE', '/operations/used'),
        await site.admin('DELETE', '/operations/missing'),
        await site.admin('DELETE', '/jobs/missing'),
        await site.admin('POST', '/jobs/missing'),
        await site.admin('PUT', '/jobs/bad', { operation: 'missing' }),
        await site.admin('POST', '/operations', say({ mode: 'groups', groups: ['missing'] })),
      ]
      for (const token of [user, other]) {
        refused.push(
          await stack.call(host, 'DELETE', '/admin/data/jobs/uses', { token }),
          await stack.call(host, 'POST', '/admin/data/operations', { token, body: say() }),
        )
      }
      expect(refused.map(({ status }) => status)).toEqual([
        409, 404, 404, 404, 400, 400, 403, 403, 401, 401,
      ])
      const plan = await carryOut(site, 'plan', definitionOf('public', '0 1 * * *'))
      expect(plan.json.status).toBe('succeeded')
    })
    expect(entries).toEqual([])
  })
})
