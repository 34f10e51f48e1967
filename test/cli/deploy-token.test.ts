import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

let stack: Stack
let folder: string
beforeAll(async () => {
  stack = await startStack()
  folder = await mkdtemp(join(tmpdir(), 'croft-tokens-'))
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

describe('croft with a deploy token', () => {
  const ci = (token: string) => ({
    CROFT_BASE_URL: stack.baseUrl('127.0.0.1'),
    CROFT_DEPLOY_TOKEN: token,
  })
  const operator = () => ({
    CROFT_BASE_URL: stack.baseUrl('127.0.0.1'),
    CROFT_OPERATOR_KEY: stack.operatorKey,
  })

  test('is made with the whole command that ends it', async () => {
    const made = await croft(['deploy-token', 'create', 'one.test', '--name', 'CI'], operator())
    const [, command = ''] = /ends +with: croft (.*)$/m.exec(made.out) ?? []
    expect(command).toMatch(/^deploy-token end one\.test --id \S+$/)
    expect(await croft(command.split(' '), operator())).toMatchObject({ code: 0 })
  })

  test('deploys, carries out definitions, and does nothing else', async () => {
    const site = join(folder, 'site')
    await croftFolder(site)
    const made = await croft(
      ['deploy-token', 'create', 'one.test', '--name', 'CI', '--scope', 'deploy', '--json'],
      operator(),
    )
    const { token, tokenId } = JSON.parse(made.out)
    const deployed = await croft(['site', 'deploy', 'one.test', '--from', site], ci(token))
    expect(deployed, deployed.err).toMatchObject({ code: 0 })
    const current = await stack.portal('GET', '/sites/one.test/deployments/current')
    expect(current.json.deployedBy).toEqual({ type: 'deployToken', name: 'CI' })
    const definition = join(folder, 'definition.json')
    await writeFile(definition, '{}')
    const plan = ['iac', 'plan', '--site', 'one.test', '--file', definition]
    expect((await croft(plan, ci(token))).err).toContain('lacks the scope "iac"')
    expect((await croft(['site', 'deploy', 'two.test', '--from', site], ci(token))).err).toContain(
      'no deploy token of the site',
    )
    const file = join(folder, 'token')
    const scopes = ['iac']
    const iac = await stack.portal('POST', '/sites/one.test/deploy-tokens', { name: 'CI', scopes })
    await writeFile(file, `${iac.json.token}\n`)
    expect((await croft([...plan, '--token-file', file], ci(token))).code).toBe(0)
    const list = await croft(['deploy-token', 'list', 'one.test'], operator())
    expect(list.out).toMatch(new RegExp(`${tokenId} .*CI .*deploy .*by operator .*used`))
    const reader = await stack.portal('POST', '/sites/one.test/deploy-tokens', {
      name: 'logs',
      scopes: ['logs'],
    })
    const logs = ['site', 'logs', 'one.test', '--level', 'error', '--limit', '5']
    expect(await croft(logs, ci(reader.json.token))).toMatchObject({
      code: 0,
      out: 'Nothing yet\n',
    })
    expect((await croft(logs, ci(token))).err).toContain('lacks the scope "logs"')
    // A command that takes no token does not send it.
    const key = { ...ci(token), ...operator() }
    expect((await croft(['deploy-token', 'end', 'one.test', '--id', tokenId], key)).code).toBe(0)
    expect((await croft(['site', 'deploy', 'one.test', '--from', site], ci(token))).code).toBe(1)
  })

  test.each([
    ['table', 'list', 'one.test'],
    ['table', 'get', 'one.test', 'orders', '{"id":"a"}'],
    ['table', 'export', 'one.test', 'orders'],
    ['bucket', 'ls', 'one.test', 'media'],
    ['users', 'one.test'],
  ])('reads no data: croft %s %s', async (...words) => {
    const scopes = ['deploy', 'logs', 'iac']
    const made = await stack.portal('POST', '/sites/one.test/deploy-tokens', {
      name: 'all',
      scopes,
    })
    const file = join(folder, `token-${words.slice(0, 2).join('-')}`)
    await writeFile(file, `${made.json.token}\n`)
    const nowhere = { CROFT_DATA_DIR: join(folder, 'nothing') }
    const alone = await croft(words, { ...ci(made.json.token), ...nowhere })
    expect(alone).toMatchObject({ code: 1, out: '' })
    expect(alone.err).toContain(
      'This takes the operator key, and not the deploy token from CROFT_DEPLOY_TOKEN: no scope of a token (deploy, logs, iac) is for this. Give the key with --operator-key or CROFT_OPERATOR_KEY',
    )
    const byFile = await croft([...words, '--token-file', file], { ...operator(), ...nowhere })
    expect(byFile).toMatchObject({ code: 1, out: '' })
    expect(byFile.err).toContain('and not the deploy token from --token-file')
    // The service says so, too, and tells what was sent.
    const sent = await croft([...words, '--operator-key', made.json.token], {
      CROFT_BASE_URL: stack.baseUrl('127.0.0.1'),
      ...nowhere,
    })
    expect(sent.err).toContain('This was sent with the operator key from --operator-key')
  })

  test('is not replaced by the key of the data folder', async () => {
    const scopes = ['deploy', 'logs', 'iac']
    const made = await stack.portal('POST', '/sites/two.test/deploy-tokens', { name: 'x', scopes })
    const dataDir = join(folder, 'with-key')
    await mkdir(dataDir)
    await writeFile(join(dataDir, 'operator.key'), `${stack.operatorKey}\n`)
    const { CROFT_BASE_URL } = operator()
    const remove = ['site', 'delete', 'two.test', '--yes']
    const token = { ...ci(made.json.token), CROFT_DATA_DIR: dataDir }
    const refused = await croft(remove, token)
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('not the deploy token from CROFT_DEPLOY_TOKEN')
    expect((await stack.portal('GET', '/sites/two.test')).status).toBe(200)
    const key = { CROFT_BASE_URL, CROFT_DATA_DIR: dataDir }
    expect(await croft(remove, key)).toMatchObject({ code: 0 })
  })

  test('sets environment variables with the scope "iac"', async () => {
    const scoped = async (scope: string) => {
      const body = { name: scope, scopes: [scope] }
      const { json } = await stack.portal('POST', '/sites/one.test/deploy-tokens', body)
      return ci(json.token)
    }
    const file = join(folder, 'value')
    await writeFile(file, 'north\n')
    const set = ['env', 'set', 'one.test', 'REGION', '--file', file, '--secret', 'off']
    expect((await croft(set, await scoped('logs'))).err).toContain('lacks the scope')
    const done = await croft(set, await scoped('iac'))
    expect(done, done.err).toMatchObject({ code: 0 })
    const list = await croft(['env', 'list', 'one.test'], await scoped('iac'))
    expect(list.out).toContain('north')
  })
})

async function croftFolder(path: string): Promise<void> {
  await mkdir(join(path, 'dist'), { recursive: true })
  await writeFile(join(path, 'build.yml'), 'ARTIFACT_DIR: dist\n')
  await writeFile(join(path, 'dist/index.html'), '<h1>hi</h1>')
}
