import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { run as runCli } from '#cli/run.ts'
import { installRoot } from '#config/install-root.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

let stack: Stack
let env: Record<string, string>
let folder: string
beforeAll(async () => {
  stack = await startStack()
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
  folder = await mkdtemp(join(tmpdir(), 'croft-calls-'))
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => croft(args, env)

describe('croft', () => {
  test('prints its version', async () => {
    const { version } = JSON.parse(await readFile(join(installRoot(), 'package.json'), 'utf8'))
    expect(await run('--version')).toEqual({ code: 0, out: `croft ${version}\n`, err: '' })
  })

  test.each(['site', 'site dkim', 'mailbox credential', 'iac'])(
    'lists the commands of the group "%s", and no others',
    async (group) => {
      const { code, out, err } = await run(...group.split(' '))
      expect({ code, err }).toEqual({ code: 0, err: '' })
      const listed = [...out.matchAll(/^ {2}(croft .*?) (?:[A-Z[-]|$)/gm)].map(([, name]) => name)
      expect(listed.length).toBeGreaterThan(1)
      for (const name of listed.slice(1)) expect(name).toMatch(new RegExp(`^croft ${group} `))
    },
  )

  test.each([
    ['a required option', ['auth', 'set', 'one.test', '--foo']],
    ['a word', ['site', 'show', '--foo']],
    ['both', ['sessions', '--foo']],
  ])('reports an option that does not exist before %s that is missing', async (_what, args) => {
    const { code, err } = await run(...args)
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("option '--foo'") })
  })

  test.each([
    ['iac', 'export'],
    ['keys', 'rotate'],
  ])('takes the site of "%s %s" as a word, or by --site as before', async (...name) => {
    for (const site of [['one.test'], ['--site', 'one.test']]) {
      const { code, err } = await run(...name, ...site)
      expect({ code, err }).toEqual({ code: 0, err: '' })
    }
    const { code, err } = await run(...name, 'one.test', '--site', 'two.test')
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining('one word too many'),
    })
  })

  test('takes --yes as agreement, or --confirm as before', async () => {
    for (const [domain, agreement] of [
      ['yes.test', '--yes'],
      ['confirm.test', '--confirm'],
    ] as const) {
      expect(await run('site', 'create', domain, '--artifact-dir', 'site')).toMatchObject({
        code: 0,
      })
      const refused = await run('site', 'delete', domain)
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('add --yes') })
      expect(await run('site', 'delete', domain, agreement)).toMatchObject({ code: 0 })
    }
  })

  test('ends without a word when its reader has seen enough', async () => {
    const shell = '"$0" bin/croft.js help | head -n 1'
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', shell, process.execPath], {
      cwd: installRoot(),
    })
    expect({ stdout, stderr }).toEqual({ stdout: 'Usage:\n', stderr: '' })
  })
})

describe('an error about who calls', () => {
  const file = () => join(folder, 'token')

  test.each<[string, readonly string[], Record<string, string>, string]>([
    ['--operator-key', ['--operator-key', 'wrong'], {}, 'the operator key from --operator-key'],
    [
      'the environment',
      [],
      { CROFT_OPERATOR_KEY: 'wrong' },
      'the operator key from CROFT_OPERATOR_KEY',
    ],
    [
      'a deploy token',
      [],
      { CROFT_DEPLOY_TOKEN: 'croft_dt_wrong' },
      'the deploy token from CROFT_DEPLOY_TOKEN',
    ],
  ])('names %s', async (_what, args, more, source) => {
    const { code, err } = await croft(['site', 'logs', 'one.test', ...args], { ...env, ...more })
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining(source) })
    expect(err).not.toContain('wrong')
  })

  test('names the file of a deploy token', async () => {
    await writeFile(file(), 'croft_dt_wrong\n')
    const { err } = await run('site', 'logs', 'one.test', '--token-file', file())
    expect(err).toContain(`the deploy token from the file "${file()}"`)
  })

  test('names the data folder', async () => {
    await writeFile(join(folder, 'operator.key'), 'wrong\n')
    const { CROFT_OPERATOR_KEY: _key, ...rest } = env
    const { err } = await croft(['site', 'list'], { ...rest, CROFT_DATA_DIR: folder })
    expect(err).toContain(`the operator key from the data folder "${folder}"`)
  })
})

describe('site logs', () => {
  let site: RuntimeSite
  beforeAll(async () => {
    site = await RuntimeSite.open(stack, 'one.test')
    await site.publish('talk', `export default ({ payload }) => console.log('said', payload)`)
  })

  const said = async (word: string): Promise<string> => {
    const { headers } = await site.call('talk', word)
    return String(headers['x-request-id'])
  }

  test('shows the request of a line, and only those of one request', async () => {
    const [first, second] = [await said('one'), await said('two')]
    await expect.poll(async () => (await run('site', 'logs', 'one.test')).out).toContain(second)
    const { out } = await run('site', 'logs', 'one.test', '--request-id', first)
    expect(out).toMatch(new RegExp(`info +talk +${first} +said one`))
    expect(out).not.toContain(second)
  })

  test('follows with an operator key or a deploy token, and ends with neither', async () => {
    const token = await run(
      'deploy-token',
      'create',
      'one.test',
      '--name',
      'ci',
      '--scope',
      'logs',
      '--json',
    )
    const { token: secret, tokenId } = JSON.parse(token.out)
    const seen = { operator: '', token: '' }
    const ended = new AbortController()
    const follow = (who: keyof typeof seen, more: Record<string, string>) =>
      runCli(['site', 'logs', 'one.test', '--follow'], {
        env: { ...env, ...more },
        out: () => undefined,
        err: () => undefined,
        async bytes(chunks) {
          for await (const chunk of chunks) {
            seen[who] += Buffer.from(chunk).toString()
            if (ended.signal.aborted) return
          }
        },
      })
    const operator = follow('operator', {})
    const ci = follow('token', { CROFT_DEPLOY_TOKEN: secret })
    await expect
      .poll(async () => {
        await said('followed')
        return seen
      })
      .toEqual({
        operator: expect.stringContaining('said followed'),
        token: expect.stringContaining('said followed'),
      })
    await run('deploy-token', 'end', 'one.test', '--id', tokenId)
    await expect
      .poll(async () => {
        await said('after')
        return seen.operator
      })
      .toContain('said after')
    expect(await ci).toBe(1)
    ended.abort()
    await said('last')
    await operator
  })
})

describe('advice to run a command', () => {
  test('names one that exists', async () => {
    const commands = new Set(
      [...(await run('help')).out.matchAll(/^ {2}croft ((?:[a-z][a-z-]* )+)/gm)].map(([, name]) =>
        name?.trim(),
      ),
    )
    expect(commands.size).toBeGreaterThan(50)
    const source = join(installRoot(), 'src')
    const unknown: string[] = []
    for (const path of await readdir(source, { recursive: true })) {
      if (!path.endsWith('.ts') || path.endsWith('.test.ts')) continue
      const text = await readFile(join(source, path), 'utf8')
      for (const [, words = ''] of text.matchAll(
        /["`(]croft ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)/g,
      )) {
        const isKnown = words
          .split(' ')
          .some((_word, at, all) => commands.has(all.slice(0, at + 1).join(' ')))
        if (!isKnown && words !== 'backup' && words !== 'help')
          unknown.push(`${path}: croft ${words}`)
      }
    }
    expect(unknown).toEqual([])
  })
})
