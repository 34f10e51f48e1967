import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import { startHttpServer } from '#platform/http-server/http-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { type Ran, croft, program } from './croft.ts'

const EXAMPLE = join(installRoot(), 'examples/hello-site')

let stack: Stack
let env: Record<string, string>
let folder: string
beforeAll(async () => {
  stack = await startStack()
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
  folder = await mkdtemp(join(tmpdir(), 'croft-cli-'))
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => croft(args, env)
const json = async (...args: string[]) => jsonOf(await run(...args, '--json'))

function jsonOf(ran: Ran) {
  expect(ran).toMatchObject({ code: 0 })
  return JSON.parse(ran.out)
}

describe('croft', () => {
  test('makes a site, deploys to it, verifies it and deletes it, as a program of its own', async () => {
    const run = (...args: string[]) => program(args, env)
    const json = async (...args: string[]) => jsonOf(await run(...args, '--json'))
    const created = await json(
      'site',
      'create',
      '--domain',
      'shop.test',
      '--artifact-dir',
      'site',
      '--super-admin',
      'ann@shop.test',
    )
    expect(created).toEqual({
      siteId: expect.stringMatching(/^site_/),
      siteDomain: 'shop.test',
      adminDomain: null,
      authDomain: null,
      onboarding: [{ email: 'ann@shop.test', url: expect.stringContaining('token=') }],
    })

    const empty = await run('site', 'verify', 'shop.test')
    expect(empty).toMatchObject({ code: 1 })
    expect(empty.out).toContain('✗ operation: the site has no operation yet: deploy one')

    const deployed = await run('site', 'deploy', 'shop.test', '--from', EXAMPLE)
    expect(deployed).toMatchObject({ code: 0 })
    expect(deployed.out).toMatch(/^Deployed dep_\w+ to shop\.test: 9 files.*runs it now\.\n$/)
    expect(deployed.err).toContain('9 files, 9 to upload')
    expect(await json('site', 'deploy', 'shop.test', '--from', EXAMPLE)).toMatchObject({
      siteDomain: 'shop.test',
      uploaded: 0,
      status: 'ready',
      permissionsSync: { status: 'succeeded' },
    })

    const verified = await run('site', 'verify', 'shop.test')
    expect(verified).toMatchObject({ code: 0, err: '' })
    expect(verified.out.match(/✓/g)).toHaveLength(10)
    expect(verified.out).toContain('✓ sign-in name: visitors sign in on shop.test itself')
    expect(verified.out).toContain('✓ auth methods: /data/auth/methods')

    await run('site', 'update', 'shop.test', '--admin-domain', 'admin.shop.test')
    expect((await run('site', 'show', 'shop.test')).out).toMatch(
      /^administration +admin\.shop\.test$/m,
    )
    const apart = await run('site', 'verify', 'shop.test')
    expect(apart).toMatchObject({ code: 0, err: '' })
    const none = await run('site', 'update', 'shop.test', '--admin-domain', 'none')
    expect(none).toMatchObject({ code: 0 })
    expect((await run('site', 'show', 'shop.test')).out).toMatch(/^administration +on its domain$/m)
    await run('site', 'update', 'shop.test', '--auth-domain', 'auth.shop.test')
    const moved = (await run('site', 'show', 'shop.test')).out
    expect(moved).toMatch(/^visitors sign in +auth\.shop\.test$/m)
    expect(moved).toMatch(/^and their programs +shop\.test$/m)
    const visited = await run('site', 'verify', 'shop.test')
    expect(visited).toMatchObject({ code: 0, err: '' })
    expect(visited.out).toContain('✓ sign-in name: auth.shop.test, which was not compared')
    await run('site', 'update', 'shop.test', '--end-former-auth')
    expect((await run('site', 'show', 'shop.test')).out).not.toContain('and their programs')
    await run('site', 'update', 'shop.test', '--auth-domain', 'none', '--end-former-auth')
    expect((await run('site', 'show', 'shop.test')).out).toMatch(
      /^visitors sign in +on its domain$/m,
    )
    expect(verified.out).toContain('✓ operation: /data/public/hello answered')
    expect(verified.out).toContain('✓ mail rows: 0 mailboxes, counted right')

    expect((await run('site', 'delete', 'shop.test')).code).toBe(2)
    expect(await json('site', 'delete', 'shop.test', '--confirm')).toEqual({
      siteId: created.siteId,
      siteDomain: 'shop.test',
      deleted: true,
    })
    expect(await run('site', 'show', 'shop.test')).toMatchObject({
      code: 1,
      out: '',
      err: 'croft site show: SiteNotFound: Site "shop.test" does not exist\n',
    })
  })

  test('verifies a site whose operations are for members of groups', async () => {
    const domain = 'members.test'
    await stack.createSite({ domain, superAdmins: ['ann@members.test'] })
    const definition = {
      groups: [{ groupName: 'editors' }],
      resources: [
        { type: 'lambdaFunction', name: 'say', config: { code: 'export default () => 1' } },
      ],
      operations: [
        { operation: 'say', lambdaResource: 'say', auth: { mode: 'groups', groups: ['editors'] } },
      ],
    }
    const file = join(folder, 'members.json')
    await writeFile(file, JSON.stringify(definition))
    expect(await run('iac', 'apply', '--site', domain, '--file', file)).toMatchObject({ code: 0 })
    const verified = await run('site', 'verify', domain)
    expect(verified.out).toContain('✓ operation: /data/say answered 1')
  })

  test('shows, lists and changes what is configured', async () => {
    const { items } = await json('site', 'list')
    expect(items.map(({ domain }: { domain: string }) => domain)).toContain('one.test')
    expect((await run('site', 'list')).out).toMatch(/one\.test +site_\w+ +eu-central-1 +SITE_GIT/)
    const changed = await json(
      'site',
      'update',
      'one.test',
      '--repo-url',
      'https://git.example/x',
      '--source',
      'EXTERNAL_REPO',
      '--egress',
      'api.example',
      '--origin',
      'https://a.example',
    )
    expect(changed).toMatchObject({
      repo: { url: 'https://git.example/x', branch: 'main', artifactDirectory: 'dist' },
      deploymentSettings: {
        egress: { allow: ['api.example'] },
        cors: { origins: ['https://a.example'] },
      },
    })
    expect((await run('site', 'show', 'one.test')).out).toMatch(
      /repository +https:\/\/git\.example/,
    )
    const back = await json(
      'site',
      'update',
      'one.test',
      '--source',
      'SITE_GIT',
      '--branch',
      'next',
    )
    expect(back.repoBinding).toEqual({ branch: 'next', artifactDirectory: 'dist' })
  })

  test('changes the limits of a site, one by one, and takes them back', async () => {
    const limits = async (...set: string[]) => {
      const options = set.flatMap((limit) => ['--limit', limit])
      return (await json('site', 'update', 'one.test', ...options)).deploymentSettings.limits
    }
    const shown = async () => (await run('site', 'show', 'one.test')).out
    expect(await shown()).toMatch(/^limits +all default$/m)
    expect(await limits('concurrency=128', 'queueLength=0')).toEqual({
      concurrency: 128,
      queueLength: 0,
    })
    expect(await shown()).toMatch(/^limits +concurrency=128 queueLength=0$/m)
    expect(await limits('concurrency=default', 'cpuMs=2000')).toEqual({
      queueLength: 0,
      cpuMs: 2000,
    })
    expect(await limits('queueLength=default', 'cpuMs=default')).toEqual({})
    const refused = await run('site', 'update', 'one.test', '--limit', 'concurrency=257')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('deploymentSettings.limits.concurrency')
    expect(refused.err).toContain('must be a whole number from 1 to 256')
    const unknown = await run('site', 'update', 'one.test', '--limit', 'speed=1')
    expect(unknown).toMatchObject({ code: 1, out: '' })
    expect(unknown.err).toContain('speed')
  })

  test('mints tokens of both pools', async () => {
    const admin = await json('token', '--site', 'two.test', '--user', 'ann@two.test')
    expect(admin).toEqual({ token: expect.any(String), expiresAt: expect.stringMatching(/Z$/) })
    const answer = await stack.call('two.test', 'GET', '/admin/data/resources', {
      token: admin.token,
    })
    expect(answer.status).toBe(200)
    const visitor = await json(
      'token',
      '--site',
      'two.test',
      '--user',
      'v@x.test',
      '--pool',
      'data',
      '--group',
      'a',
      '--group',
      'b',
    )
    expect(decodeJwt(visitor.token)).toMatchObject({
      token_use: 'access',
      username: 'v@x.test',
      'cognito:groups': ['a', 'b'],
    })
  })

  test('lists visitors, shows one, disables, enables, signs out and deletes one', async () => {
    const domain = 'users.test'
    await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
    await stack.dataToken(domain, { user: 'vic@example.org' })
    await stack.dataToken(domain, { user: 'val@example.org' })
    const listed = await json('users', domain)
    expect(listed.items).toMatchObject([
      { username: 'val@example.org', status: 'ACTIVE', origin: 'operator' },
      { username: 'vic@example.org', status: 'ACTIVE' },
    ])
    expect((await json('users', domain, '--search', 'vi')).items).toHaveLength(1)
    expect((await run('users', domain, '--show', 'vic@example.org')).out).toMatch(
      /last seen +not signed in/,
    )
    expect((await run('users', domain, '--disable', 'vic@example.org')).out).toBe(
      'vic@example.org is disabled and signed out.\n',
    )
    const disabled = await run('users', domain, '--status', 'DISABLED')
    expect(disabled.out).toMatch(/^vic@example\.org +DISABLED +operator/)
    for (const [option, said] of [
      ['--enable', 'can sign in again'],
      ['--sign-out', 'is signed out everywhere'],
      ['--delete', 'is deleted'],
    ] as const) {
      const agreed = option === '--delete' ? ['--yes'] : []
      const ran = await run('users', domain, option, 'vic@example.org', ...agreed)
      expect(ran).toMatchObject({ code: 0, out: `vic@example.org ${said}.\n` })
    }
    expect(await run('users', domain, '--show', 'vic@example.org')).toMatchObject({
      code: 1,
      err: expect.stringContaining('No visitor of the site has the address "vic@example.org"'),
    })
    expect(
      await run('users', domain, '--enable', 'val@example.org', '--delete', 'val@example.org'),
    ).toMatchObject({ code: 2 })
  })

  test('rotates keys of one pool', async () => {
    const { rotated } = await json('keys', 'rotate', '--site', 'two.test', '--pool', 'data')
    expect(rotated).toEqual([
      { userPoolId: expect.stringMatching(/^eu-central-1_/), kid: expect.any(String) },
    ])
  })

  test('says why a folder cannot be deployed', async () => {
    const wrong = join(folder, 'wrong')
    const nowhere = await run('site', 'deploy', 'two.test', '--from', wrong)
    expect(nowhere).toMatchObject({
      code: 1,
      err: expect.stringContaining(`"${wrong}" is no folder`),
    })
    await mkdir(join(wrong, 'public'), { recursive: true })
    await writeFile(join(wrong, 'public/a'), 'x')
    const deploy = () => run('site', 'deploy', 'two.test', '--from', wrong)
    expect((await deploy()).err).toContain('InvalidArtifact: There is no build.yml')
    await writeFile(join(wrong, 'build.yml'), 'ARTIFACT_DIR: public')
    expect(await deploy()).toMatchObject({ code: 1, out: '' })
    expect((await deploy()).err).toContain(
      'ArtifactDirMismatch: build.yml says ARTIFACT_DIR "public"',
    )
  })

  test('fails when the runtime cannot load what was deployed, and says which function', async () => {
    const broken = join(folder, 'broken')
    await mkdir(join(broken, 'dist'), { recursive: true })
    await writeFile(join(broken, 'build.yml'), 'ARTIFACT_DIR: dist')
    await writeFile(join(broken, 'dist/f.ts'), 'export default (')
    const definition = {
      resources: [{ type: 'lambdaFunction', name: 'f', config: { artifact: 'f.ts' } }],
    }
    await writeFile(join(broken, 'dist/croft.json'), JSON.stringify(definition))
    const ran = await run('site', 'deploy', 'two.test', '--from', broken)
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('InvalidCode: Function "f" does not load: f.ts, line 1')
    expect(ran.err).toMatch(/^f\.ts:1:\d+ {2}function "f"$/m)
    expect(ran.err).toMatch(/^ *> 1 \| export default \($/m)
    expect(ran.err).toMatch(/^ *\| +\^$/m)
  })

  test('fails when the site has no room for what croft.json adds, and changes nothing', async () => {
    await stack.createSite({ domain: 'full.test', superAdmins: ['ann@full.test'] })
    await stack.inSite('full.test', (tx) =>
      tx.db
        .insertInto('data_group')
        .values(
          Array.from({ length: 999 }, (_, at) => ({
            site_id: tx.siteId,
            group_name: `full-${at}`,
            description: '',
          })),
        )
        .execute(),
    )
    const full = join(folder, 'full')
    await mkdir(join(full, 'dist'), { recursive: true })
    await writeFile(join(full, 'build.yml'), 'ARTIFACT_DIR: dist')
    const definition = { groups: [{ groupName: 'a' }, { groupName: 'b' }] }
    await writeFile(join(full, 'dist/croft.json'), JSON.stringify(definition))
    const ran = await run('site', 'deploy', 'full.test', '--from', full)
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toMatch(
      /groups: the site has 999 and this adds 2, where at most 1000 have room/,
    )
    expect((await json('site', 'show', 'full.test')).currentDeploymentId).toBeNull()
  })

  test.each<[string, string[], string]>([
    ['no such command', ['sites', 'list'], 'there is no command "sites list"'],
    [
      'a command without its group',
      ['logs', '--request-id', 'x'],
      'there is no command "logs"; "croft help" lists them (Did you mean "site logs"?)',
    ],
    [
      'help with no such command',
      ['help', 'site', 'deplo'],
      'there is no command "site deplo"; "croft help" lists them (Did you mean "site deploy"?)',
    ],
    ['--help after no such command', ['deplyo', '--help'], 'there is no command "deplyo"'],
    ['no such option', ['site', 'list', '--nope'], "Unknown option '--nope'"],
    ['a word too many', ['site', 'show', 'a', 'b'], '"b" is one word too many'],
    ['a missing option', ['token', '--site', 'x.test'], '--user is missing'],
    ['a missing word', ['site', 'show'], 'DOMAIN is missing'],
    ['an option without its value', ['token', '--site'], "'--site <value>' argument missing"],
    [
      'a wrong value',
      ['token', '--site', 'x', '--user', 'u', '--pool', 'x'],
      '--pool is admin or data',
    ],
    ['a wrong source', ['site', 'create', '--domain', 'x.test', '--source', 'FTP'], '--source is'],
    ['a wrong limit', ['site', 'update', 'one.test', '--limit', 'cpuMs'], '--limit is NAME=VALUE'],
    ['nothing to change', ['site', 'update', 'one.test'], 'say what to change'],
    ['no address', ['site', 'list', '--url', 'localhost'], 'is not the address of a service'],
  ])('called with %s ends with 2 and says so', async (_what, args, words) => {
    const ran = await run(...args)
    expect(ran).toMatchObject({ code: 2, out: '' })
    expect(ran.err).toContain(words)
  })

  test.each<[string, string[], string]>([
    ['a command too many', ['site', 'show', 'a', 'b'], '"b" is one word too many'],
    ['no such runtime', ['serve', '--on', 'php'], '--on takes bun, node, deno'],
  ])('as a program, called with %s ends with 2 and says so', async (_what, args, words) => {
    const ran = await program(args, env)
    expect(ran).toMatchObject({ code: 2, out: '' })
    expect(ran.err).toContain(words)
  })

  test.each<[string, string[]]>([
    ['nothing', []],
    ['help', ['help']],
    ['--help', ['--help']],
    ['help and a group', ['help', 'site']],
    ['help and a command with its words', ['help', 'site', 'show', 'one.test']],
    ['-h after a command', ['site', 'create', '-h']],
  ])('called with %s explains itself', async (_what, args) => {
    const ran = await croft(args)
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toContain('  croft s')
  })

  test.each<[string, string[]]>([
    ['nothing', []],
    ['--help after serve', ['serve', '--help']],
  ])('as a program, called with %s explains itself', async (_what, args) => {
    const ran = await program(args)
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toContain('  croft s')
  })

  test('names the wrong operator key', async () => {
    const ran = await croft(['site', 'list', '--operator-key', 'wrong'], env)
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('Unauthorized')
    expect(ran.err).toContain('--operator-key')
    expect(ran.err).not.toContain(stack.operatorKey)
  })
})

describe('croft finds the service', () => {
  const service = () => ({ url: stack.baseUrl('127.0.0.1'), pid: process.pid })

  test('by what it left in its data folder', async () => {
    const dataDir = join(folder, 'data')
    await mkdir(dataDir, { recursive: true })
    await writeFile(join(dataDir, 'service.json'), JSON.stringify(service()))
    await writeFile(join(dataDir, 'operator.key'), `${stack.operatorKey}\n`)
    expect(await croft(['site', 'list'], { CROFT_DATA_DIR: dataDir })).toMatchObject({ code: 0 })
  })

  test('by its port', async () => {
    const ran = await program(['site', 'list'], {
      PORT: String(stack.port),
      CROFT_OPERATOR_KEY: stack.operatorKey,
    })
    expect(ran.code).toBe(0)
  })

  test('by the operator’s own listener, where it has one', async () => {
    const dataDir = join(folder, 'apart')
    await mkdir(dataDir, { recursive: true })
    const key = { CROFT_OPERATOR_KEY: stack.operatorKey }
    const operatorUrl = stack.baseUrl('127.0.0.1')
    const left = { url: 'http://127.0.0.1:1', operatorUrl, pid: process.pid }
    await writeFile(join(dataDir, 'service.json'), JSON.stringify(left))
    const besides: Record<string, string>[] = [
      { CROFT_DATA_DIR: dataDir },
      { CROFT_BASE_URL: left.url, OPERATOR_PORT: String(stack.port) },
      { PORT: '1', OPERATOR_PORT: String(stack.port), OPERATOR_HOST: '0.0.0.0' },
    ]
    for (const env of besides)
      expect(await croft(['site', 'list'], { ...env, ...key })).toMatchObject({ code: 0 })
    const named = ['--url', left.url, '--operator-url', operatorUrl]
    expect(await croft(['site', 'list', ...named], key)).toMatchObject({ code: 0 })
    // A deploy token is for where the sites are.
    const token = { CROFT_DEPLOY_TOKEN: 'croft_deploy_x', CROFT_DATA_DIR: dataDir }
    const ran = await croft(['site', 'deployments', 'one.test'], token)
    expect(ran.err).toContain('No Croft answers at http://127.0.0.1:1')
  })

  test('or tells who asks the wrong one', async () => {
    const elsewhere = await startHttpServer({
      fetch: () =>
        Response.json({ error: { code: 'RouteNotFound', message: 'No' } }, { status: 404 }),
      hostname: '127.0.0.1',
      port: 0,
    })
    const url = `http://127.0.0.1:${elsewhere.port}`
    const ran = await croft(['site', 'list', '--url', url], env)
    await elsewhere.drain(0)
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('say where that is with --operator-url')
  })

  test('or says that none was started', async () => {
    const ran = await croft(['site', 'list'], { CROFT_DATA_DIR: join(folder, 'nothing') })
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('No Croft has been started with the data folder')
    expect(ran.err).toContain('npm start')
  })

  test('or says that it has stopped', async () => {
    const dataDir = join(folder, 'stopped')
    await mkdir(dataDir, { recursive: true })
    await writeFile(join(dataDir, 'service.json'), '{"url":"http://127.0.0.1:1","pid":1}')
    await writeFile(join(dataDir, 'operator.key'), 'x')
    const ran = await croft(['site', 'list'], { CROFT_DATA_DIR: dataDir })
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('No Croft answers at http://127.0.0.1:1 (ECONNREFUSED)')
  })

  test('and needs none to migrate a database', async () => {
    const { url } = stack.database
    expect(await program(['migrate'], { DATABASE_URL: url })).toMatchObject({
      code: 0,
      out: 'Nothing to do.\n',
    })
    const ran = await program(['migrate'])
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('DATABASE_URL is not set')
  })
})
