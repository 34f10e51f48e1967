import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { GitClient, type WorkingCopy, siteFiles } from '#test/git-client.ts'
import { type Stack, startStack } from '#test/stack.ts'

const cleanUp = new AsyncDisposableStack()
let stack: Stack
let git: GitClient
beforeAll(async () => {
  stack = cleanUp.use(await startStack({ sites: [] }))
  git = cleanUp.use(await GitClient.start())
})
afterAll(() => cleanUp.disposeAsync())

/** `{name}.localhost` leads to this machine everywhere. */
async function newSite(name: string, body: object = {}) {
  const domain = `${name}.localhost`
  const { siteId } = await stack.createSite({ domain, superAdmins: [`ann@${domain}`], ...body })
  const token = await tokenOf(domain)
  return { domain, siteId, token, url: urlOf(domain, token) }
}

async function tokenOf(domain: string, scopes = ['deploy']): Promise<string> {
  const made = await stack.portal('POST', `/sites/${domain}/deploy-tokens`, { name: 'CI', scopes })
  return made.json.token
}

const urlOf = (domain: string, token: string): string =>
  `http://ci:${token}@${domain}:${stack.port}/site.git`

const answerOf = async (domain: string): Promise<unknown> =>
  (await stack.call(domain, 'POST', '/data/public/f', { body: {} })).json.data

const currentOf = async (domain: string) =>
  (await stack.portal('GET', `/sites/${domain}/deployments/current`)).json

/** A site with one commit pushed to it. */
async function pushedSite(name: string, body: object = {}) {
  const site = await newSite(name, body)
  const copy = await git.workingCopy(name, site.url)
  const commit = await copy.commit(siteFiles('first'))
  expect(await copy.push('main')).toMatchObject({ code: 0 })
  return { ...site, copy, commit }
}

const remoteRefs = async (copy: WorkingCopy): Promise<string> => copy.ok('ls-remote', 'croft')

describe('a push to the bound branch', () => {
  test('deploys the commit, and says so', async () => {
    const site = await newSite('first')
    const copy = await git.workingCopy('first', site.url)
    const commit = await copy.commit(siteFiles('hello'))
    const pushed = await copy.push('main')
    expect(pushed.code, pushed.err).toBe(0)
    expect(pushed.err).toMatch(/^remote: Deploying 2 files of "dist"…/m)
    expect(pushed.err).toMatch(/^remote: Deployed dep_\w+: \d+ bytes/m)
    expect(pushed.err).toMatch(/^remote: The runtime runs it now/m)
    expect(await answerOf(site.domain)).toBe('hello')
    expect(await currentOf(site.domain)).toMatchObject({
      source: { type: 'git', branch: 'main', commit },
      deployedBy: { type: 'gitPush', name: 'CI' },
      git: { commit, branch: 'main', dirty: false },
      fileCount: 2,
    })
    expect(stack.app.recorded.has('POST /site.git/git-receive-pack deployment.activated')).toBe(
      true,
    )
    await copy.commit(siteFiles('again'))
    expect(await copy.push('main')).toMatchObject({ code: 0 })
    expect(await answerOf(site.domain)).toBe('again')
  })

  test.each<readonly [string, Record<string, string>, RegExp]>([
    ['without a build.yml', { 'dist/a.txt': 'a' }, /There is no build\.yml at the root/],
    [
      'whose build.yml is no YAML',
      { 'build.yml': 'a: [', 'dist/a': '' },
      /build\.yml is not valid/,
    ],
    ['of another folder', { 'build.yml': 'ARTIFACT_DIR: out' }, /ArtifactDirMismatch.*"out"/],
    ['without the folder', { 'build.yml': 'ARTIFACT_DIR: dist' }, /"dist" is not in the commit/],
    [
      'whose croft.json is broken',
      { ...siteFiles('x'), 'dist/croft.json': '{"operations":[{"operation":"f"}]}' },
      /croft\.json|operations/,
    ],
    [
      'whose code throws at load',
      { ...siteFiles('x'), 'dist/f.js': 'export default () => 1\nthrow new Error("at load")' },
      /^remote: InvalidCode: Function "f" does not load: f\.js, line 2[^]*^remote: f\.js:2:\d+ {2}function "f"[^]*^remote: .*> 2 \| throw new Error/m,
    ],
    [
      'that names a file that is not there',
      {
        ...siteFiles('x'),
        'dist/croft.json': JSON.stringify({
          resources: [{ type: 'lambdaFunction', name: 'f', config: { artifact: 'gone.js' } }],
        }),
      },
      /"gone\.js"/,
    ],
    [
      'with a pointer of Git LFS',
      {
        ...siteFiles('x'),
        'dist/film.mp4': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n',
      },
      /"film\.mp4" is a pointer of Git LFS/,
    ],
    [
      'with a file that is too long',
      { ...siteFiles('x'), 'dist/long.bin': 'x'.repeat(33 * 1024 * 1024) },
      /"long\.bin" has \d+ bytes/,
    ],
  ])('is refused %s, and changes nothing', async (what, files, words) => {
    const name = `broken${what.replaceAll(/\W/g, '')}`.slice(0, 40).toLowerCase()
    const site = await pushedSite(name)
    const before = await currentOf(site.domain)
    await site.copy.ok('rm', '-r', '-q', '.')
    await site.copy.commit(files)
    const refused = await site.copy.push('main')
    expect(refused.code).toBe(1)
    const told = refused.err.split('\n').filter((line) => line.startsWith('remote: '))
    expect(told.join('\n')).toMatch(words)
    expect(refused.err).toContain('! [remote rejected]')
    expect(await remoteRefs(site.copy)).toBe(
      `${site.commit}\tHEAD\n${site.commit}\trefs/heads/main`,
    )
    expect(await currentOf(site.domain)).toMatchObject({ deploymentId: before.deploymentId })
    expect(await answerOf(site.domain)).toBe('first')
  })

  test('is refused with what is no file', async () => {
    const site = await pushedSite('special')
    const { copy } = site
    const blob = await copy.ok('hash-object', '-w', 'build.yml')
    for (const [mode, id, words] of [
      ['120000', blob, '"odd" is a symbolic link'],
      ['160000', site.commit, '"odd" is a submodule'],
    ] as const) {
      await copy.ok('update-index', '--add', '--cacheinfo', `${mode},${id},dist/odd`)
      await copy.ok('commit', '--quiet', '-m', 'odd')
      const refused = await copy.push('main')
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(words) })
      await copy.ok('reset', '--quiet', '--hard', site.commit)
    }
    expect(await answerOf(site.domain)).toBe('first')
  })

  test('is refused by force, and when it deletes', async () => {
    const { copy, commit, domain } = await pushedSite('force')
    await copy.ok('commit', '--quiet', '--amend', '-m', 'another')
    expect((await copy.push('main')).code).toBe(1)
    const forced = await copy.push('--force', 'main')
    expect(forced).toMatchObject({ code: 1, err: expect.stringContaining('takes no forced push') })
    const deleted = await copy.push('--delete', 'main')
    expect(deleted).toMatchObject({ code: 1, err: expect.stringContaining('cannot be deleted') })
    expect(await remoteRefs(copy)).toContain(`${commit}\trefs/heads/main`)
    expect(await currentOf(domain)).toMatchObject({ git: { commit } })
  })

  test('that meets another one is deployed whole, and one of them is', async () => {
    const { copy, domain, url } = await pushedSite('race')
    const other = await git.workingCopy('race-other', url)
    await other.ok('pull', '--quiet', 'croft', 'main')
    const commits = [
      await copy.commit(siteFiles('one'), 'one'),
      await other.commit(siteFiles('two'), 'two'),
    ]
    const pushes = await Promise.all([copy.push('main'), other.push('main')])
    const won = pushes.findIndex(({ code }) => code === 0)
    expect(new Set(pushes.map(({ code }) => code))).toEqual(new Set([0, 1]))
    expect(pushes[1 - won]?.err).toMatch(/rejected|Another push has changed/)
    expect(await currentOf(domain)).toMatchObject({ git: { commit: commits[won] } })
    expect(await answerOf(domain)).toBe(['one', 'two'][won])
  })

  test('of two sites at once deploys each', async () => {
    const sites = await Promise.all(['twin1', 'twin2'].map((name) => newSite(name)))
    const copies = await Promise.all(
      sites.map(async ({ url, domain }) => {
        const copy = await git.workingCopy(domain, url)
        await copy.commit(siteFiles(domain))
        return copy
      }),
    )
    const pushes = await Promise.all(copies.map((copy) => copy.push('main')))
    expect(pushes.map(({ code }) => code)).toEqual([0, 0])
    for (const { domain } of sites) expect(await answerOf(domain)).toBe(domain)
  })

  test('that is larger than the repository may be is refused, and leaves nothing', async () => {
    const site = await pushedSite('quota')
    await stack.portal('PATCH', `/sites/${site.domain}`, {
      deploymentSettings: { limits: { repositoryBytes: 200_000 } },
    })
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(64 * 1024)))
    const bytes = Buffer.concat(
      Array.from({ length: 5 }, (_, index) => noise.map((byte) => byte ^ (index * 37))),
    )
    await site.copy.commit({ 'noise.bin': bytes })
    const refused = await site.copy.push('main')
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('repositoryBytes') })
    expect(await packsOf(site.domain)).toHaveLength(1)
    expect(await objectsOf(site.siteId)).toHaveLength(1)
    expect(await currentOf(site.domain)).toMatchObject({ git: { commit: site.commit } })
  })
})

describe('other branches and tags', () => {
  test('are kept and not deployed', async () => {
    const { copy, domain, commit } = await pushedSite('branches')
    await copy.ok('checkout', '--quiet', '-b', 'feature/x')
    const feature = await copy.commit({ 'build.yml': 'no build at all' })
    await copy.ok('tag', '-a', 'v1', '-m', 'one', commit)
    const pushed = await copy.push('feature/x', 'v1')
    expect(pushed).toMatchObject({ code: 0, err: expect.stringContaining('Kept feature/x, v1') })
    await copy.ok('commit', '--quiet', '--amend', '-m', 'rewritten')
    expect(await copy.push('--force', 'feature/x')).toMatchObject({ code: 0 })
    expect(await remoteRefs(copy)).toMatch(
      /refs\/heads\/feature\/x\n.*refs\/heads\/main\n.*refs\/tags\/v1/,
    )
    expect(await remoteRefs(copy)).not.toContain(feature)
    expect(await currentOf(domain)).toMatchObject({ git: { commit } })
    expect(await copy.push('--delete', 'feature/x')).toMatchObject({ code: 0 })
    expect(await remoteRefs(copy)).not.toContain('feature')
  })

  test.each([
    ['what is neither a branch nor a tag', 'HEAD:refs/notes/x', /neither a branch nor a tag/],
    ['a branch inside the name of another', 'HEAD:refs/heads/main/x', /cannot both be there/],
    [
      'a branch of what is no commit',
      'HEAD^{tree}:refs/heads/tree',
      /would not point to a commit|rejected/,
    ],
  ])('are refused for %s, with all that is pushed beside it', async (_what, refspec, words) => {
    const { copy } = await pushedSite(
      `odd${refspec.replaceAll(/\W/g, '')}`.slice(0, 30).toLowerCase(),
    )
    const before = await remoteRefs(copy)
    const refused = await copy.push('HEAD:refs/heads/fine', refspec)
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(words) })
    expect(await remoteRefs(copy)).toBe(before)
  })

  test('are deployed once the site is bound to one, and asked to deploy it', async () => {
    const { copy, domain, commit } = await pushedSite('rebound')
    await copy.ok('checkout', '--quiet', '-b', 'live')
    const live = await copy.commit(siteFiles('live'))
    expect((await copy.push('live')).code).toBe(0)
    expect(await answerOf(domain)).toBe('first')
    const repoBinding = { branch: 'live' }
    expect((await stack.portal('PATCH', `/sites/${domain}`, { repoBinding })).status).toBe(200)
    expect(await currentOf(domain)).toMatchObject({ git: { commit } })
    const fetched = await stack.portal('POST', `/sites/${domain}/deployments/fetch`)
    expect(fetched).toMatchObject({ status: 200, json: { git: { commit: live, branch: 'live' } } })
    expect(
      (await stack.portal('POST', `/sites/${domain}/deployments/fetch`, { ref: 'main' })).json,
    ).toMatchObject({
      git: { commit },
    })
    for (const ref of ['nothing', '--upload-pack=x', 'main..live', 'a b']) {
      const answer = await stack.portal('POST', `/sites/${domain}/deployments/fetch`, { ref })
      expect(answer, ref).toMatchObject({ status: expect.toBeOneOf([400, 404]) })
    }
    await copy.commit(siteFiles('later'))
    expect((await copy.push('live')).err).toContain('Deployed dep_')
    expect(await copy.ok('ls-remote', '--symref', 'croft', 'HEAD')).toContain('refs/heads/live')
  })
})

describe('the repository', () => {
  test('is cloned, whole and shallow, and fetched from', async () => {
    const { copy, url } = await pushedSite('clone')
    for (let count = 0; count < 40; count++)
      await copy.commit({ 'src/n.txt': `${count}` }, `${count}`)
    expect((await copy.push('main')).code).toBe(0)
    for (const version of ['0', '1', '2']) {
      const whole = `clone-${version}`
      await git.ok('-c', `protocol.version=${version}`, 'clone', '--quiet', url, whole)
      expect(await git.ok('-C', whole, 'rev-list', '--count', 'HEAD')).toBe('41')
      expect(await git.ok('-C', whole, 'fsck', '--full', '--strict')).toBe('')
    }
    await git.ok('clone', '--quiet', '--depth=3', url, 'shallow')
    expect(await git.ok('-C', 'shallow', 'rev-list', '--count', 'HEAD')).toBe('3')
    await git.ok('-C', 'shallow', 'fetch', '--quiet', '--deepen=5')
    expect(await git.ok('-C', 'shallow', 'rev-list', '--count', 'HEAD')).toBe('8')
    await git.ok('clone', '--quiet', '--filter=blob:none', url, 'partial')

    // A fetch with many commits of its own says so in a compressed request.
    for (let count = 0; count < 60; count++) {
      await git.ok(
        '-C',
        'clone-2',
        '-c',
        'user.name=b',
        'commit',
        '--quiet',
        '--allow-empty',
        '-m',
        `own ${count}`,
      )
    }
    const next = await copy.commit(siteFiles('next'))
    expect((await copy.push('main')).code).toBe(0)
    await git.ok('-C', 'clone-2', 'fetch', '--quiet')
    expect(await git.ok('-C', 'clone-2', 'rev-parse', 'origin/main')).toBe(next)
  })

  test('is that of every replica', async () => {
    const { copy, url, domain } = await pushedSite('replica')
    await using second = await startStack({ beside: stack })
    const there = url.replace(`:${stack.port}/`, `:${second.port}/`)
    await git.ok('clone', '--quiet', there, 'replicated')
    expect(await git.ok('-C', 'replicated', 'rev-parse', 'HEAD')).toBe(await copy.head())
    await copy.ok('remote', 'set-url', 'croft', there)
    const commit = await copy.commit(siteFiles('second'))
    expect((await copy.push('main')).code).toBe(0)
    await git.ok('clone', '--quiet', url, 'replicated-back')
    expect(await git.ok('-C', 'replicated-back', 'rev-parse', 'HEAD')).toBe(commit)
    await vi.waitUntil(async () => (await answerOf(domain)) === 'second', { timeout: 20_000 })
  })

  test('leaves no view of itself behind', async () => {
    await vi.waitUntil(async () => (await viewsOf()).length === 0, { timeout: 5000 })
    expect(await viewsOf()).toEqual([])
  })

  test('goes with its site', async () => {
    const { siteId, domain } = await pushedSite('gone')
    expect(await objectsOf(siteId)).toHaveLength(1)
    await stack.portal('DELETE', `/sites/${domain}?confirm=true`)
    await vi.waitUntil(async () => (await objectsOf(siteId)).length === 0, { timeout: 20_000 })
  })
})

describe('any client', () => {
  test('with a wrong password is refused, and learns nothing', async () => {
    const { domain, url, copy } = await pushedSite('doors')
    const other = await newSite('doors-other')
    const ended = await stack.portal('POST', `/sites/${domain}/deploy-tokens`, { name: 'old' })
    await stack.portal('DELETE', `/sites/${domain}/deploy-tokens/${ended.json.tokenId}`)
    for (const [token, words] of [
      ['wrong', 'Authentication failed'],
      [`croft_deploy_${'x'.repeat(43)}`, 'Authentication failed'],
      [stack.operatorKey, 'Authentication failed'],
      [other.token, 'Authentication failed'],
      [ended.json.token, 'Authentication failed'],
      [await tokenOf(domain, ['logs', 'iac']), 'lacks the scope "deploy"'],
    ] as const) {
      const wrong = urlOf(domain, token)
      await copy.ok('remote', 'set-url', 'croft', wrong)
      for (const refused of [await copy.push('main'), await git.run('ls-remote', wrong)]) {
        expect(refused.code).toBe(128)
        expect(refused.err).toContain(words)
      }
    }
    expect((await git.run('ls-remote', url)).code).toBe(0)
  })

  test('without one is asked for it, on every route', async () => {
    const { domain } = await newSite('asked')
    for (const [method, path] of [
      ['GET', '/site.git/info/refs?service=git-upload-pack'],
      ['GET', '/site.git/info/refs?service=git-receive-pack'],
      ['POST', '/site.git/git-upload-pack'],
      ['POST', '/site.git/git-receive-pack'],
    ] as const) {
      for (const headers of [
        {},
        { authorization: `Bearer ${stack.operatorKey}` },
        { authorization: 'Basic !!' },
      ]) {
        const answer = await stack.call(domain, method, path, { headers })
        expect(answer.status, path).toBe(401)
        expect(answer.headers['www-authenticate']).toMatch(/^Basic /)
        expect(answer.headers['content-type']).toMatch(/^text\/plain/)
      }
    }
  })

  test('with the dumb protocol, or to a site with a repository elsewhere, gets an error', async () => {
    const { domain, token, url } = await pushedSite('modes')
    const headers = { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` }
    for (const [path, status] of [
      ['/site.git/info/refs', 400],
      ['/site.git/info/refs?service=git-upload-archive', 400],
      ['/site.git/HEAD', 404],
      ['/site.git/objects/info/packs', 404],
      ['/site.git/config', 404],
      ['/site.git/../site.git/HEAD', 404],
    ] as const) {
      expect((await stack.call(domain, 'GET', path, { headers })).status, path).toBe(status)
    }
    const repo = { url: 'https://forge.test/shop.git' }
    await stack.portal('PATCH', `/sites/${domain}`, { sourceMode: 'EXTERNAL_REPO', repo })
    const refused = await git.run('ls-remote', url)
    expect(refused).toMatchObject({ code: 128, err: expect.stringContaining('EXTERNAL_REPO') })
    await stack.portal('PATCH', `/sites/${domain}`, { sourceMode: 'SITE_GIT' })
    expect((await git.run('ls-remote', url)).out).toContain('refs/heads/main')
  })
})

const packsOf = (domain: string) =>
  stack.inSite(domain, (tx) =>
    tx.db
      .selectFrom('site_repository_pack')
      .select('pack')
      .where('site_id', '=', tx.siteId)
      .execute(),
  )

const objectsOf = async (siteId: string) =>
  (await stack.context.objects.list({ prefix: `sites/${siteId}/git/`, maxKeys: 100 })).objects

async function viewsOf(): Promise<string[]> {
  const parent = join(stack.dataDir, 'cache', 'git')
  const mirrors = await readdir(parent)
  return (await Promise.all(mirrors.map((name) => readdir(join(parent, name, 'views'))))).flat()
}
