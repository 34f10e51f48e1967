import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

const SITES = ['one.test', 'two.test'] as const
const SECRET = 'a-value-that-nobody-reads'
const CODE = 'export default () => 1'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: SITES })
})
afterAll(() => stack[Symbol.asyncDispose]())

interface Entry {
  readonly event: string
  readonly actor: string
  readonly address: string | null
  readonly requestId: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** What the trail has of changes to a site's runtime, oldest first. */
async function trailOf(host: string): Promise<readonly Entry[]> {
  const { json } = await stack.portal('GET', `/sites/${host}/audit?limit=100`)
  const items: readonly Entry[] = json.items
  return items
    .filter(({ event }) => /^(?:resource|env-vars|compute|definition)\./.test(event))
    .toReversed()
}

const shown = ({ event, detail }: Entry) => [event, detail]

async function admin(host: string) {
  const token = await stack.adminToken(host)
  return (method: string, path: string, body?: object) =>
    stack.call(host, method, `/admin/data${path}`, { token, ...(body && { body }) })
}

describe('the audit trail of a site', () => {
  test.each(SITES)('has who changed what of its runtime, %s', async (host) => {
    const send = await admin(host)
    const made = await send('POST', '/resources', {
      type: 's3Bucket',
      name: 'files',
      config: {},
    })
    expect(made.status, made.text).toBe(200)
    const { resourceId } = made.json
    await send('PATCH', `/resources/${resourceId}`, { name: 'papers' })
    await send('DELETE', `/resources/${resourceId}`)
    await send('PUT', '/env-vars', { variables: { KEY: { value: SECRET, secret: true } } })
    await send('PUT', '/env-vars', { variables: { KEY: { value: SECRET, secret: true } } })
    await send('DELETE', '/env-vars')
    const ran = await send('POST', '/compute/execute', { code: CODE })
    expect(ran.status, ran.text).toBe(200)
    const exported = await send('GET', '/iac/export')
    expect(exported.status).toBe(200)
    const definition = exported.json
    const saved = await send('PUT', '/iac/definitions/mine', { definition })
    expect(saved.status, saved.text).toBe(200)
    await send('DELETE', '/iac/definitions/mine')
    const submitted = await send('POST', '/iac/jobs', { mode: 'plan', definition })
    expect(submitted.status, submitted.text).toBe(200)

    const trail = await trailOf(host)
    const resource = { resourceId, type: 's3Bucket' }
    expect(trail.map(shown)).toEqual([
      ['resource.created', { ...resource, name: 'files' }],
      ['resource.changed', { ...resource, name: 'papers', changed: 'name' }],
      ['resource.deleted', { ...resource, name: 'papers' }],
      ['env-vars.changed', { create: 'KEY' }],
      ['env-vars.changed', { delete: 'KEY' }],
      [
        'compute.executed',
        { characters: CODE.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ],
      ['definition.exported', {}],
      ['definition.saved', { profileName: 'mine' }],
      ['definition.removed', { profileName: 'mine' }],
      ['definition.submitted', { jobId: submitted.json.jobId, mode: 'plan' }],
    ])
    const { sub } = decodeJwt(await stack.adminToken(host))
    for (const entry of trail) {
      expect(entry).toMatchObject({
        actor: sub,
        address: expect.stringMatching(/./),
        requestId: expect.stringMatching(/./),
      })
    }
    expect(JSON.stringify(trail)).not.toContain(SECRET)
  })

  test('has nothing of what was refused', async () => {
    const before = (await trailOf('one.test')).length
    const send = await admin('one.test')
    expect(
      (await send('POST', '/resources', { type: 's3Bucket', name: '', config: {} })).status,
    ).toBe(400)
    expect((await send('DELETE', '/resources/res_0000000000000000')).status).toBe(404)
    expect((await send('PUT', '/env-vars', { variables: { '1': { value: 'x' } } })).status).toBe(
      400,
    )
    const user = await stack.adminToken('one.test', 'user')
    const asUser = { token: user, body: { code: CODE } }
    const refused = await stack.call('one.test', 'POST', '/admin/data/compute/execute', asUser)
    expect(refused.status).toBe(403)
    expect((await trailOf('one.test')).length).toBe(before)
  })

  test('has what the operator takes home', async () => {
    await stack.portal('GET', '/sites/two.test/iac/export')
    expect((await trailOf('two.test')).at(-1)).toMatchObject({
      event: 'definition.exported',
      actor: 'operator',
    })
  })
})
