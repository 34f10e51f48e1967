import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-external-'))
  stack = await startStack({ config: { allowFileRepositories: true } })
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@x.test', ...args], {
    encoding: 'utf8',
  }).trim()

/** A bare repository, as a forge has it, with one commit on `main`. */
async function publish(name: string, files: Readonly<Record<string, string>>) {
  const work = join(folder, `${name}-work`)
  const bare = join(folder, `${name}.git`)
  git('init', '--quiet', '--initial-branch=main', work)
  git('init', '--quiet', '--bare', '--initial-branch=main', bare)
  const push = async (changed: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(changed)) {
      await mkdir(dirname(join(work, path)), { recursive: true })
      await writeFile(join(work, path), text)
    }
    git('-C', work, 'add', '-A')
    git('-C', work, 'commit', '--quiet', '-m', 'change')
    git('-C', work, 'push', '--quiet', bare, 'main')
    return git('-C', work, 'rev-parse', 'HEAD')
  }
  return { url: `file://${bare}`, work, commit: await push(files), push }
}

const files = (answer: string) => ({
  'build.yml': 'env:\n  variables:\n    ARTIFACT_DIR: dist\n',
  'src/private.ts': 'not published',
  'dist/f.js': `export default () => ${JSON.stringify(answer)}`,
  'dist/croft.json': JSON.stringify({
    resources: [{ type: 'lambdaFunction', name: 'f', config: { artifact: 'f.js' } }],
    operations: [{ operation: 'f', lambdaResource: 'f', auth: { mode: 'public' } }],
  }),
})

async function siteOf(domain: string, url: string, repo: object = {}) {
  await stack.createSite({
    domain,
    superAdmins: [`ann@${domain}`],
    repo: { url, branch: 'main', artifactDirectory: 'dist', ...repo },
  })
  return () => stack.portal('POST', `/sites/${domain}/deployments/fetch`)
}

describe('an external repository', () => {
  test('is deployed at a tag, another branch or a commit, when that is asked for', async () => {
    const origin = await publish('refs', files('first'))
    await siteOf('refs.test', origin.url)
    const fetch = (ref: string) =>
      stack.portal('POST', '/sites/refs.test/deployments/fetch', { ref })
    git('-C', origin.work, 'tag', '-a', 'v1', '-m', 'one')
    git('-C', origin.work, 'push', '--quiet', origin.url, 'v1', 'HEAD:refs/heads/feature/x')
    const second = await origin.push(files('second'))
    for (const [ref, branch] of [
      ['v1', 'v1'],
      ['feature/x', 'feature/x'],
      [origin.commit, null],
    ] as const) {
      expect(await fetch(ref), ref).toMatchObject({
        status: 200,
        json: { current: true, git: { commit: origin.commit, branch } },
      })
      const current = await stack.portal('POST', '/sites/refs.test/deployments/fetch')
      expect(current.json.git).toMatchObject({ commit: second, branch: 'main' })
    }
    const recorded = 'POST /portal/api/sites/:siteId/deployments/fetch deployment.activated'
    expect(stack.app.recorded.has(recorded)).toBe(true)
  })

  const [missing, invalid] = [[404, 'RefNotFound'] as const, [400, 'ValidationError'] as const]
  test.each([
    ['nothing', missing],
    ['0'.repeat(40), missing],
    ['--upload-pack=touch x', invalid],
    ['-x', invalid],
    ['a b', invalid],
    ['a:b', invalid],
    ['main^{/x}', invalid],
  ])('is not deployed at the ref %j', async (ref, [status, code]) => {
    const domain = `r${Buffer.from(ref).toString('hex').slice(0, 20)}.test`
    const origin = await publish(domain, files('first'))
    await siteOf(domain, origin.url)
    const refused = await stack.portal('POST', `/sites/${domain}/deployments/fetch`, { ref })
    expect(refused).toMatchObject({ status, json: { error: { code } } })
  })

  test('is deployed as its branch is, and again when it has moved on', async () => {
    const origin = await publish('moving', files('first'))
    const fetch = await siteOf('moving.test', origin.url)
    expect(await fetch()).toMatchObject({
      status: 200,
      json: {
        status: 'ready',
        current: true,
        source: { type: 'repo', url: origin.url, branch: 'main', commit: origin.commit },
        fileCount: 2,
      },
    })
    await stack.synced('moving.test')
    const call = () => stack.call('moving.test', 'POST', '/data/public/f', { body: {} })
    expect((await call()).json.data).toBe('first')

    const commit = await origin.push(files('second'))
    expect((await fetch()).json.source.commit).toBe(commit)
    await vi.waitUntil(async () => (await call()).json.data === 'second', { timeout: 30_000 })
    expect(await readdir(join(stack.dataDir, 'work'))).toEqual([])
  })

  test('is fetched once for those who ask together', async () => {
    const { url } = await publish('together', files('x'))
    const fetch = await siteOf('together.test', url)
    const [a, b] = await Promise.all([fetch(), fetch()])
    expect(a.json.deploymentId).toBe(b.json.deploymentId)
  })

  test('must agree with the configured artifact directory', async () => {
    const { url } = await publish('mismatch', files('x'))
    const fetch = await siteOf('mismatch.test', url, { artifactDirectory: 'public' })
    expect(await fetch()).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'ArtifactDirMismatch',
          message: expect.stringMatching(/"dist".*repo\.artifactDirectory.*"public"/),
        },
      },
    })
    expect((await stack.portal('GET', '/sites/mismatch.test')).json.currentDeploymentId).toBeNull()
  })

  test.each<[string, Record<string, string>, string]>([
    ['no build.yml', { 'dist/x': '' }, 'There is no build.yml'],
    ['nothing built', { 'build.yml': 'ARTIFACT_DIR: dist' }, '"dist" is not there'],
  ])('with %s is refused', async (what, content, words) => {
    const name = what.replaceAll(/\W/g, '-')
    const { url } = await publish(name, content)
    const fetch = await siteOf(`${name}.test`, url)
    const answer = await fetch()
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidArtifact' } } })
    expect(answer.json.error.message).toContain(words)
  })

  test('with a symbolic link in its artifact is refused by the link’s name', async () => {
    const { url, work, push } = await publish('linked', files('x'))
    await symlink('/etc/passwd', join(work, 'outside'))
    await push({ 'dist/a.txt': 'a' })
    const fetch = await siteOf('linked.test', url)
    expect((await fetch()).status).toBe(200)
    await symlink('/etc/passwd', join(work, 'dist/passwd'))
    await push({ 'dist/b.txt': 'b' })
    const answer = await fetch()
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'InvalidArtifact' } } })
    expect(answer.json.error.message).toContain('"dist/passwd" is a symbolic link')
  })

  test.each([
    ['a branch that is not there', { branch: 'next' }, 'next', 404, 'RefNotFound'],
    [
      'a repository that is not there',
      { url: 'file:///nowhere/x.git' },
      'nowhere',
      502,
      'SourceUnavailable',
    ],
  ])('cannot be fetched from %s', async (what, repo, words, status, code) => {
    const { url } = await publish(what.replaceAll(' ', '-'), files('x'))
    const domain = `${what.replaceAll(' ', '-')}.test`
    const fetch = await siteOf(domain, url, repo)
    const answer = await fetch()
    expect(answer).toMatchObject({ status, json: { error: { code } } })
    expect(answer.json.error.message).toContain(words)
  })

  test('is not looked for where a site has a repository of its own', async () => {
    const answer = await stack.portal('POST', '/sites/one.test/deployments/fetch')
    expect(answer).toMatchObject({
      status: 404,
      json: { error: { code: 'RefNotFound', message: expect.stringContaining('push it') } },
    })
  })
})
