import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

let stack: Stack
let env: Record<string, string>
let folder: string
beforeAll(async () => {
  stack = await startStack()
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
  folder = await mkdtemp(join(tmpdir(), 'croft-cli-deployments-'))
  await mkdir(join(folder, 'dist'))
  await writeFile(join(folder, 'build.yml'), 'ARTIFACT_DIR: dist\n')
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => croft(args, env)
async function json(...args: string[]) {
  const ran = await run(...args, '--json')
  expect(ran).toMatchObject({ code: 0 })
  return JSON.parse(ran.out)
}
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim()

async function deploy(text: string): Promise<string> {
  await writeFile(join(folder, 'dist/version.txt'), text)
  return (await json('site', 'deploy', 'one.test', '--from', folder)).deploymentId
}

describe('croft', () => {
  test('lists what a site ran, and goes back', async () => {
    expect((await run('site', 'deployments', 'one.test')).out).toBe('Nothing was deployed yet.\n')
    expect(await run('site', 'rollback', 'one.test')).toMatchObject({
      code: 1,
      err: expect.stringContaining('NoEarlierDeployment: The site runs no deployment yet'),
    })

    const first = await deploy('one')
    git('init', '--quiet', '--initial-branch=main')
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@a.test']
    git(...author, 'commit', '--quiet', '--allow-empty', '--message=first')
    const second = await deploy('two')
    const commit = git('rev-parse', 'HEAD')

    const { items } = await json('site', 'deployments', 'one.test')
    expect(items).toMatchObject([
      { deploymentId: second, current: true, git: { commit, branch: 'main', dirty: true } },
      { deploymentId: first, current: false, git: null },
    ])
    const listed = (await run('site', 'deployments', 'one.test')).out.trimEnd().split('\n')
    expect(listed).toHaveLength(2)
    expect(listed[0]).toMatch(/^\* {2}dep_/)
    expect(listed[0]).toContain(
      `deployed  by the operator  ${commit.slice(0, 12)} main +changes  1 files, 3 B  +0 ~1 -0 files`,
    )
    expect((await json('site', 'deployments', 'one.test', '--limit', '1')).items).toHaveLength(1)

    const shown = await run('site', 'deployment', 'one.test', second)
    expect(shown.out).toContain(`Against ${first}:\n~ version.txt\n`)

    const back = await run('site', 'rollback', 'one.test')
    expect(back).toMatchObject({ code: 0 })
    expect(back.out).toContain(`Rolled one.test back from ${second} to ${first}.`)
    const after = await run('site', 'deployments', 'one.test')
    expect(after.out).toContain('rolled back to  by the operator')

    expect(await run('site', 'rollback', 'one.test', first)).toMatchObject({
      code: 1,
      err: expect.stringContaining('DeploymentAlreadyCurrent'),
    })
    expect(await json('site', 'rollback', 'one.test', second)).toMatchObject({
      deploymentId: second,
      from: first,
      current: true,
    })
  })

  test('sets when a deployment is rolled back', async () => {
    const shown = async () => (await run('site', 'show', 'two.test')).out
    expect(await shown()).toMatch(/automatic rollback +off/)
    const on = ['--auto-rollback', 'on', '--auto-rollback-failure-percent', '30']
    const { deploymentSettings } = await json('site', 'update', 'two.test', ...on)
    expect(deploymentSettings.autoRollback).toEqual({
      enabled: true,
      failurePercent: 30,
      minCalls: 20,
    })
    await run('site', 'update', 'two.test', '--auto-rollback-min-calls', '5')
    expect(await shown()).toContain('above 30% failures of at least 5 calls')
    expect(await run('site', 'update', 'two.test', '--auto-rollback-min-calls', 'x')).toMatchObject(
      { code: 2, err: expect.stringContaining('--auto-rollback-min-calls is a whole number') },
    )
    expect(
      await run('site', 'update', 'two.test', '--auto-rollback-failure-percent', '100'),
    ).toMatchObject({ code: 1, err: expect.stringContaining('failurePercent') })
  })

  test.each([
    [['site', 'deployment', 'one.test'], 'DEPLOYMENT_ID is missing'],
    [['site', 'rollback'], 'DOMAIN is missing'],
    [['site', 'rollback', 'one.test', ''], 'DEPLOYMENT_ID is missing'],
    [['site', 'rollback', 'one.test', 'a', 'b'], '"b" is one word too many'],
    [['site', 'deployments', 'one.test', '--limit', '0'], '--limit is a whole number'],
  ])('is called wrongly by %j', async (args, words) => {
    expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining(words) })
  })
})
