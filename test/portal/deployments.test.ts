import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { objectKey } from '#platform/objects/object-store.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const announced = (files: Readonly<Record<string, string>>) =>
  Object.entries(files).map(([path, text]) => ({
    path,
    sha256: sha256(text),
    sizeBytes: Buffer.byteLength(text),
  }))

const begin = (site: string, files: unknown, buildYml = 'ARTIFACT_DIR: dist') =>
  stack.portal('POST', `/sites/${site}/deployments`, { buildYml, files })

const put = (site: string, deploymentId: string, hash: string, body: string | Uint8Array) =>
  stack.call(
    'localhost',
    'PUT',
    `/portal/api/sites/${site}/deployments/${deploymentId}/files/${hash}`,
    {
      token: stack.operatorKey,
      // A file is taken as it is, whatever it is said to be.
      headers: { 'content-type': 'application/json' },
      body,
    },
  )

const activate = (site: string, deploymentId: string) =>
  stack.portal('POST', `/sites/${site}/deployments/${deploymentId}/activate`)

async function deploy(site: string, files: Readonly<Record<string, string>>) {
  const begun = await begin(site, announced(files))
  expect(begun.status).toBe(200)
  const texts = new Map(Object.values(files).map((text) => [sha256(text), text]))
  for (const hash of begun.json.missing) {
    expect(await put(site, begun.json.deploymentId, hash, texts.get(hash) ?? '')).toMatchObject({
      status: 204,
    })
  }
  return { ...begun.json, activated: await activate(site, begun.json.deploymentId) }
}

async function newSite(domain: string): Promise<string> {
  return (await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })).siteId
}

const definition = (greeting: string) => ({
  'index.html': '<h1>hi</h1>',
  'greet.ts': `export default (): string => ${JSON.stringify(greeting)}`,
  'croft.json': JSON.stringify({
    resources: [{ type: 'lambdaFunction', name: 'greet', config: { artifact: 'greet.ts' } }],
    operations: [{ operation: 'greet', lambdaResource: 'greet', auth: { mode: 'public' } }],
  }),
})

describe('a deployment', () => {
  test('becomes current and runs', async () => {
    const siteId = await newSite('run.test')
    const { deploymentId, missing, activated } = await deploy('run.test', definition('hello'))
    expect(missing).toHaveLength(3)
    expect(activated).toMatchObject({
      status: 200,
      json: {
        deploymentId,
        status: 'ready',
        current: true,
        source: { type: 'folder' },
        artifactDirectory: 'dist',
        fileCount: 3,
        error: null,
      },
    })
    expect((await stack.portal('GET', `/sites/${siteId}`)).json.currentDeploymentId).toBe(
      deploymentId,
    )
    await stack.synced('run.test')
    const answer = await stack.call('run.test', 'POST', '/data/public/greet', { body: {} })
    expect(answer.json).toEqual({ ok: true, data: 'hello' })
  })

  test('uploads only what the service does not have', async () => {
    await newSite('again.test')
    await deploy('again.test', definition('one'))
    const second = await begin('again.test', announced(definition('two')))
    expect(second.json.missing).toEqual([sha256(definition('two')['greet.ts'])])
  })

  test('asks for equal contents once, and keeps empty files', async () => {
    await newSite('twins.test')
    const files = { 'a.txt': 'same', 'b.txt': 'same', 'empty.txt': '' }
    const { missing, activated } = await deploy('twins.test', files)
    expect(missing).toHaveLength(2)
    expect(activated.json).toMatchObject({ fileCount: 3, sizeBytes: 8 })
  })

  test('that broke off is resumed by beginning again', async () => {
    await newSite('resume.test')
    const files = { 'a.txt': 'first', 'b.txt': 'second' }
    const broken = await begin('resume.test', announced(files))
    await put('resume.test', broken.json.deploymentId, sha256('first'), 'first')
    const refused = await activate('resume.test', broken.json.deploymentId)
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { code: 'InvalidArtifact', missing: [sha256('second')] } },
    })
    const resumed = await begin('resume.test', announced(files))
    expect(resumed.json.missing).toEqual([sha256('second')])
    await put('resume.test', resumed.json.deploymentId, sha256('second'), 'second')
    expect((await activate('resume.test', resumed.json.deploymentId)).status).toBe(200)
  })

  test('can be rolled back to an earlier one', async () => {
    await newSite('back.test')
    const first = await deploy('back.test', definition('old'))
    await deploy('back.test', definition('new'))
    expect((await activate('back.test', first.deploymentId)).status).toBe(200)
    const greet = () => stack.call('back.test', 'POST', '/data/public/greet', { body: {} })
    await vi.waitUntil(async () => (await greet()).json.data === 'old', { timeout: 30_000 })
    const { json } = await stack.portal('GET', '/sites/back.test/deployments')
    expect(json).toMatchObject({
      items: [{ current: false }, { current: true, deploymentId: first.deploymentId }],
      nextToken: null,
    })
  })

  test('that cannot be applied leaves the earlier one current', async () => {
    await newSite('broken.test')
    const good = await deploy('broken.test', definition('good'))
    const bad = await deploy('broken.test', { ...definition('bad'), 'croft.json': '{"x":1}' })
    expect(bad.activated.status).toBe(400)
    const current = await stack.portal('GET', '/sites/broken.test/deployments/current')
    expect(current.json.deploymentId).toBe(good.deploymentId)
    const failed = await stack.portal('GET', `/sites/broken.test/deployments/${bad.deploymentId}`)
    expect(failed.json).toMatchObject({ status: 'failed', error: expect.stringContaining('x') })
    await stack.synced('broken.test')
    const greet = () => stack.call('broken.test', 'POST', '/data/public/greet', { body: {} })
    await vi.waitUntil(async () => (await greet()).json.data === 'good', { timeout: 30_000 })
  })

  test('that was current before and is refused now stays one to go back to', async () => {
    await newSite('refused.test')
    const grants = [{ resource: 'guests', access: 'read' }]
    const config = { artifact: 'greet.ts', resources: grants }
    const reading = {
      ...definition('reads'),
      'croft.json': JSON.stringify({
        resources: [{ type: 'lambdaFunction', name: 'reader', config }],
      }),
    }
    const token = await stack.adminToken('refused.test')
    const table = { type: 'ddbTable', name: 'guests' }
    const path = '/admin/data/resources'
    const made = await stack.call('refused.test', 'POST', path, { token, body: table })
    const first = await deploy('refused.test', reading)
    expect(first.activated.status, first.activated.text).toBe(200)
    const second = await deploy('refused.test', {
      'index.html': '<h1>nothing</h1>',
      'greet.ts': reading['greet.ts'],
    })
    await stack.synced('refused.test')
    const { resources } = (await stack.call('refused.test', 'GET', path, { token })).json
    for (const { resourceId } of resources.toSorted((a: { name: string }) =>
      a.name === 'reader' ? -1 : 1,
    )) {
      await stack.call('refused.test', 'DELETE', `${path}/${resourceId}`, { token })
    }
    expect(made.status).toBe(200)
    const refused = await activate('refused.test', first.deploymentId)
    expect(refused).toMatchObject({
      status: 400,
      json: {
        error: { message: expect.stringContaining('"guests" is neither in the definition') },
      },
    })
    const { json } = await stack.portal('GET', '/sites/refused.test/deployments')
    expect(json.items).toMatchObject([
      { deploymentId: second.deploymentId, current: true },
      { deploymentId: first.deploymentId, current: false, status: 'ready', error: null },
    ])
  })

  test('must say the artifact directory that the site is configured with', async () => {
    const answer = await begin('one.test', announced({ a: 'x' }), 'ARTIFACT_DIR: public')
    expect(answer).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'ArtifactDirMismatch',
          message: expect.stringMatching(/"public".*repoBinding\.artifactDirectory.*"dist"/),
          artifactDir: 'public',
          configured: 'dist',
        },
      },
    })
  })

  const file = { path: 'a', sha256: 'a'.repeat(64), sizeBytes: 1 }
  test.each<[string, unknown, string]>([
    ['no files', [], 'is empty'],
    ['a climbing path', [{ ...file, path: '../a' }], '..'],
    ['an absolute path', [{ ...file, path: '/etc/passwd' }], '/'],
    ['a backslash', [{ ...file, path: 'a\\b' }], '\\\\'],
    ['a path twice', [file, file], 'listed twice'],
    ['a hash that is none', [{ ...file, sha256: 'abc' }], 'sha256'],
    ['a negative size', [{ ...file, sizeBytes: -1 }], 'sizeBytes'],
    ['a file that is too big', [{ ...file, sizeBytes: 2 ** 31 }], 'bytes'],
    ['an unknown field', [{ ...file, mode: 7 }], 'mode'],
    ['no list', 'a', 'files'],
  ])('is refused with %s', async (_what, files, words) => {
    const answer = await begin('one.test', files)
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.json.error)).toContain(words)
  })

  test.each(['ARTIFACT_DIR:', 'a: [', 'ARTIFACT_DIR: ../dist'])(
    'is refused with the build.yml %j',
    async (buildYml) => {
      const answer = await begin('one.test', [file], buildYml)
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidArtifact' } } })
    },
  )

  test.each<[string, string | Uint8Array, string]>([
    ['another text', 'other', 'sha256'],
    ['a shorter text', 'exp', 'ends after 3 of the 5 bytes'],
    ['nothing', '', 'ends after 0 of the 5 bytes'],
    ['a longer text', 'expected', 'longer than the 5 bytes'],
    ['a much longer one', new Uint8Array(4_000_000), 'longer than the 5 bytes'],
  ])('keeps nothing of an upload of %s', async (_what, body, words) => {
    const siteId = await newSite(`upload-${sha256(String(body.length)).slice(0, 8)}.test`)
    const { json } = await begin(siteId, announced({ a: 'exact' }))
    const answer = await put(siteId, json.deploymentId, sha256('exact'), body)
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'ValidationError' } } })
    expect(answer.json.error.message).toContain(words)
    const key = objectKey(siteId, 'artifacts', sha256('exact'))
    expect(await stack.context.objects.head(key)).toBeUndefined()
  })

  test('takes no file that it did not announce', async () => {
    const { json } = await begin('one.test', announced({ a: 'announced' }))
    expect(await put('one.test', json.deploymentId, sha256('stray'), 'stray')).toMatchObject({
      status: 404,
      json: { error: { code: 'ObjectNotFound' } },
    })
  })

  test.each(['dep_aaaaaaaaaaaaaaaa', 'x', '%00'])('%j is not there', async (deploymentId) => {
    expect(await activate('one.test', deploymentId)).toMatchObject({
      status: 404,
      json: { error: { code: 'DeploymentNotFound' } },
    })
  })

  test('of another site is not there', async () => {
    const { json } = await begin('one.test', announced({ a: 'mine' }))
    const answers = [
      await put('two.test', json.deploymentId, sha256('mine'), 'mine'),
      await activate('two.test', json.deploymentId),
      await stack.portal('GET', `/sites/two.test/deployments/${json.deploymentId}`),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 404, json: { error: { code: 'DeploymentNotFound' } } })
    }
    const theirs = await begin('two.test', announced({ a: 'mine' }))
    expect(theirs.json.missing).toEqual([sha256('mine')])
  })

  test('is forgotten, contents and all, when it is old', async () => {
    const siteId = await newSite('old.test')
    for (let version = 1; version <= 8; version++) {
      await deploy('old.test', { 'shared.txt': 'shared', 'own.txt': `version ${version}` })
    }
    const stored = async (text: string) =>
      (await stack.context.objects.head(objectKey(siteId, 'artifacts', sha256(text)))) !== undefined
    await vi.waitUntil(async () => !(await stored('version 2')), { timeout: 30_000 })
    const { json } = await stack.portal('GET', '/sites/old.test/deployments')
    const statuses = json.items.map(({ status }: { status: string }) => status)
    expect(statuses).toEqual([...Array<string>(6).fill('ready'), 'removed', 'removed'])
    expect(json.items.at(-1)).toMatchObject({ fileCount: 2, sizeBytes: 15, current: false })
    const gone = await activate('old.test', json.items.at(-1).deploymentId)
    expect(gone).toMatchObject({ status: 409, json: { error: { code: 'DeploymentRemoved' } } })
    for (const text of ['shared', 'version 3', 'version 8']) expect(await stored(text)).toBe(true)
  })
})
