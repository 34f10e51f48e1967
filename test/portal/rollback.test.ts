import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { DeployDesk } from '#test/deploy-desk.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** A busy machine takes its time. */
const PATIENCE = { timeout: 30_000 }

let stack: Stack
let desk: DeployDesk
beforeAll(async () => {
  stack = await startStack({ sites: [] })
  desk = new DeployDesk(stack)
})
afterAll(() => stack[Symbol.asyncDispose]())

const rollBack = (site: string, body?: object) =>
  stack.portal('POST', `/sites/${site}/deployments/rollback`, body)
const currentOf = async (site: string): Promise<string> =>
  (await stack.portal('GET', `/sites/${site}`)).json.currentDeploymentId
const siteWith = async (domain: string, versions: number) => {
  await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
  const ids: string[] = []
  for (let version = 1; version <= versions; version++) {
    ids.push(await desk.deploy(domain, { 'version.txt': String(version) }))
  }
  return ids
}
const refusal = (code: string, status = 409) => ({ status, json: { error: { code } } })

const greeting = (text: string, more: object[] = []) => ({
  'greet.ts': `export default (): string => ${JSON.stringify(text)}`,
  'croft.json': JSON.stringify({
    resources: [
      { type: 'lambdaFunction', name: 'greet', config: { artifact: 'greet.ts' } },
      ...more,
    ],
    operations: [{ operation: 'greet', lambdaResource: 'greet', auth: { mode: 'public' } }],
  }),
})

describe('a rollback', () => {
  test('runs what ran before, and keeps what the later deployment had added', async () => {
    await stack.createSite({ domain: 'back.test', superAdmins: ['ann@back.test'] })
    const table = {
      type: 'ddbTable',
      name: 'later',
      config: { partitionKey: { name: 'id', type: 'S' } },
    }
    const first = await desk.deploy('back.test', greeting('old'))
    await stack.synced('back.test')
    const second = await desk.deploy('back.test', greeting('new', [table]))
    await stack.synced('back.test')

    const rolledBack = await rollBack('back.test', { from: second })

    expect(rolledBack).toMatchObject({
      status: 200,
      json: {
        deploymentId: first,
        current: true,
        activations: [
          {
            reason: 'rollback',
            activatedBy: { type: 'operator' },
            replacedDeploymentId: second,
            fileChanges: { added: 0, changed: 2, removed: 0 },
          },
          { reason: 'deploy' },
        ],
      },
    })
    const audit = await stack.portal('GET', '/sites/back.test/audit?event=deployment.activated')
    expect(audit.json.items).toMatchObject([
      { actor: 'operator', detail: { deploymentId: first, reason: 'rollback', replaced: second } },
      { detail: { deploymentId: second, reason: 'deploy', replaced: first } },
      { detail: { deploymentId: first, reason: 'deploy', replaced: '' } },
    ])
    const greet = () => stack.call('back.test', 'POST', '/data/public/greet', { body: {} })
    await vi.waitUntil(async () => (await greet()).json.data === 'old', PATIENCE)
    const token = await stack.adminToken('back.test')
    const { json } = await stack.call('back.test', 'GET', '/admin/data/resources', { token })
    expect(json.resources.map(({ name }: { name: string }) => name)).toContain('later')
  })

  test('goes further back each time, and forward by name', async () => {
    const [first, second, third] = await siteWith('steps.test', 3)
    expect((await rollBack('steps.test')).json.deploymentId).toBe(second)
    expect((await rollBack('steps.test')).json.deploymentId).toBe(first)
    expect(await rollBack('steps.test')).toMatchObject(refusal('NoEarlierDeployment'))
    expect((await rollBack('steps.test', { deploymentId: third })).status).toBe(200)
    expect(await currentOf('steps.test')).toBe(third)
  })

  test('of a site without a deployment is refused', async () => {
    await siteWith('none.test', 0)
    expect(await rollBack('none.test')).toMatchObject(refusal('NoEarlierDeployment'))
  })

  test('to what runs, never ran, is unknown or is of another site is refused', async () => {
    const [first, second] = await siteWith('wrong.test', 2)
    const [theirs] = await siteWith('others.test', 1)
    const uploaded = await desk.upload('wrong.test', { a: 'never' })
    const cases = [
      [second, refusal('DeploymentAlreadyCurrent')],
      [uploaded, refusal('DeploymentNotReady')],
      ['dep_aaaaaaaaaaaaaaaa', refusal('DeploymentNotFound', 404)],
      [theirs, refusal('DeploymentNotFound', 404)],
      ['%00', refusal('DeploymentNotFound', 404)],
      ['a\u0000', refusal('ValidationError', 400)],
    ] as const
    for (const [deploymentId, expected] of cases) {
      expect(await rollBack('wrong.test', { deploymentId })).toMatchObject(expected)
    }
    expect(await rollBack('wrong.test', { to: first })).toMatchObject(
      refusal('ValidationError', 400),
    )
    expect(await currentOf('wrong.test')).toBe(second)
  })

  test('to what is no longer kept says so', async () => {
    const ids = await siteWith('kept.test', 8)
    const status = async (id: string | undefined) =>
      (await stack.portal('GET', `/sites/kept.test/deployments/${id}`)).json.status
    await vi.waitUntil(async () => (await status(ids[1])) === 'removed', PATIENCE)
    const refused = await rollBack('kept.test', { deploymentId: ids[0] })
    expect(refused).toMatchObject(refusal('DeploymentRemoved'))
    expect(refused.json.error.message).toContain(`"${ids[0]}"`)
    expect((await rollBack('kept.test', { deploymentId: ids[2] })).status).toBe(200)
  })

  test('to a deployment from another artifact directory than the site has now is refused', async () => {
    await siteWith('moved.test', 2)
    const repoBinding = { artifactDirectory: 'public' }
    expect((await stack.portal('PATCH', '/sites/moved.test', { repoBinding })).status).toBe(200)
    expect(await rollBack('moved.test')).toMatchObject(refusal('ArtifactDirMismatch', 400))
  })

  test('leaves a function that came later with the code that it has', async () => {
    await stack.createSite({ domain: 'later.test', superAdmins: ['ann@later.test'] })
    const first = await desk.deploy('later.test', { 'index.html': 'first' })
    await desk.deploy('later.test', {
      'late.ts': 'export default () => 1',
      'croft.json': JSON.stringify({
        resources: [{ type: 'lambdaFunction', name: 'late', config: { artifact: 'late.ts' } }],
        operations: [{ operation: 'late', lambdaResource: 'late', auth: { mode: 'public' } }],
      }),
    })
    await stack.synced('later.test')
    expect(await rollBack('later.test')).toMatchObject({ status: 200 })
    await stack.synced('later.test')
    expect(await currentOf('later.test')).toBe(first)
    const late = await stack.call('later.test', 'POST', '/data/public/late', { body: {} })
    expect(late.json).toEqual({ ok: true, data: 1 })
  })

  test('that cannot be applied leaves the site as it is', async () => {
    await stack.createSite({ domain: 'stuck.test', superAdmins: ['ann@stuck.test'] })
    const token = await stack.adminToken('stuck.test')
    const table = { type: 'ddbTable', name: 'guests' }
    const path = '/admin/data/resources'
    const made = await stack.call('stuck.test', 'POST', path, { token, body: table })
    const config = { artifact: 'read.ts', resources: [{ resource: 'guests', access: 'read' }] }
    const first = await desk.deploy('stuck.test', {
      'read.ts': 'export default () => 1',
      'croft.json': JSON.stringify({
        resources: [{ type: 'lambdaFunction', name: 'read', config }],
      }),
    })
    await stack.synced('stuck.test')
    const second = await desk.deploy('stuck.test', {
      'index.html': 'nothing',
      'read.ts': 'export default () => 1',
    })
    const { resources } = (await stack.call('stuck.test', 'GET', path, { token })).json
    const reader = resources.find(({ name }: { name: string }) => name === 'read')
    for (const { resourceId } of [reader, made.json]) {
      await stack.call('stuck.test', 'DELETE', `${path}/${resourceId}`, { token })
    }
    expect(await rollBack('stuck.test')).toMatchObject({ status: 400 })
    expect(await currentOf('stuck.test')).toBe(second)
    const { json } = await stack.portal('GET', `/sites/stuck.test/deployments/${first}`)
    expect(json.status).toBe('ready')
  })

  test('needs the operator key', async () => {
    await siteWith('closed.test', 2)
    const path = '/portal/api/sites/closed.test/deployments/rollback'
    const token = await stack.adminToken('closed.test')
    for (const options of [{}, { token }, { token: 'wrong' }]) {
      const answer = await stack.call('closed.test', 'POST', path, { ...options, body: {} })
      expect(answer.status).toBe(401)
    }
  })

  test('to a deployment without schemas takes them away, and back brings them', async () => {
    await stack.createSite({ domain: 'schemas.test', superAdmins: ['ann@schemas.test'] })
    const files = greeting('hi')
    const definition = JSON.parse(files['croft.json'])
    const checked = {
      ...definition,
      operations: [{ ...definition.operations[0], input: { type: 'integer' } }],
    }
    await desk.deploy('schemas.test', files)
    await desk.deploy('schemas.test', { ...files, 'croft.json': JSON.stringify(checked) })
    await stack.synced('schemas.test')
    const status = async () => {
      await stack.synced('schemas.test')
      const body = { payload: 'text' }
      return (await stack.call('schemas.test', 'POST', '/data/public/greet', { body })).status
    }
    expect(await status()).toBe(400)
    await rollBack('schemas.test')
    expect(await status()).toBe(200)
    await desk.deploy('schemas.test', { ...files, 'croft.json': JSON.stringify(checked) })
    expect(await status()).toBe(400)
  })
})

describe('of several at once', () => {
  test('one rollback from the same deployment takes place', async () => {
    const [, second, third] = await siteWith('race.test', 3)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => rollBack('race.test', { from: third })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 409, 409, 409, 409,
    ])
    expect(await currentOf('race.test')).toBe(second)
  })

  test('a rollback does not undo a deployment that came before it', async () => {
    const [first, second] = await siteWith('against.test', 2)
    const third = await desk.upload('against.test', { 'version.txt': '3' })
    const [deployed, rolledBack] = await Promise.all([
      stack.portal('POST', `/sites/against.test/deployments/${third}/activate`),
      rollBack('against.test', { from: second }),
    ])
    expect(deployed?.status).toBe(200)
    // First back and then on, or on and no way back from what was not seen.
    const { json } = await stack.portal('GET', `/sites/against.test/deployments/${third}`)
    const replaced = rolledBack.status === 200 ? first : second
    expect([200, 409]).toContain(rolledBack.status)
    expect(json.activations[0].replacedDeploymentId).toBe(replaced)
    expect(await currentOf('against.test')).toBe(third)
  })
})

describe('the list of deployments', () => {
  test('comes in pages, newest first', async () => {
    const ids = await siteWith('pages.test', 4)
    const first = await stack.portal('GET', '/sites/pages.test/deployments?limit=3')
    const next = `nextToken=${encodeURIComponent(first.json.nextToken)}`
    const rest = await stack.portal('GET', `/sites/pages.test/deployments?limit=3&${next}`)
    const idsOf = (items: { deploymentId: string }[]) =>
      items.map(({ deploymentId }) => deploymentId)
    expect([...idsOf(first.json.items), ...idsOf(rest.json.items)]).toEqual(ids.toReversed())
    expect(rest.json.nextToken).toBeNull()
    await siteWith('elsewhere.test', 1)
    expect(await stack.portal('GET', `/sites/elsewhere.test/deployments?${next}`)).toMatchObject(
      refusal('InvalidNextToken', 400),
    )
  })

  test('has the changes of each by name, of files and of the definition', async () => {
    await stack.createSite({ domain: 'named.test' })
    const first = await desk.deploy('named.test', { 'a.txt': 'a', 'b.txt': 'b' })
    const second = await desk.deploy('named.test', { 'b.txt': 'B', ...greeting('hi') })
    const changes = await stack.portal('GET', `/sites/named.test/deployments/${second}/changes`)
    expect(changes).toMatchObject({
      status: 200,
      json: {
        replacedDeploymentId: first,
        files: { added: ['croft.json', 'greet.ts'], changed: ['b.txt'], removed: ['a.txt'] },
        definition: [
          { section: 'resources', name: 'greet', action: 'added' },
          { section: 'operations', name: 'greet', action: 'added' },
        ],
      },
    })
    const uploaded = await desk.upload('named.test', { 'b.txt': 'B' })
    const planned = await stack.portal('GET', `/sites/named.test/deployments/${uploaded}/changes`)
    expect(planned.json).toMatchObject({
      replacedDeploymentId: second,
      files: { added: [], changed: [], removed: ['croft.json', 'greet.ts'] },
    })
  })
})
