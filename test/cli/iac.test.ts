import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

let stack: Stack
let folder: string
let env: Record<string, string>
beforeAll(async () => {
  stack = await startStack()
  folder = await mkdtemp(join(tmpdir(), 'croft-iac-'))
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
}, 60_000)
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const table = (name: string) => ({
  type: 'ddbTable',
  name,
  config: { partitionKey: { name: 'id', type: 'S' } },
})
const iac = (mode: string, ...args: string[]) => croft(['iac', mode, ...args], env)

async function fileOf(definition: unknown): Promise<string> {
  const file = join(folder, `${crypto.randomUUID()}.json`)
  await writeFile(file, typeof definition === 'string' ? definition : JSON.stringify(definition))
  return file
}

async function namesIn(site: string): Promise<string[]> {
  const { json } = await stack.portal('GET', `/sites/${site}/iac/export`)
  return json.resources.map(({ name }: { name: string }) => name)
}

describe('croft iac', () => {
  test('plans, applies, exports and replaces, in the site that is named and no other', async () => {
    const two = await fileOf({ resources: [table('notes'), table('marks')] })
    const one = await fileOf({ resources: [table('notes')] })
    const plan = await iac('plan', '--site', 'one.test', '--file', two)
    expect(plan).toMatchObject({ code: 0 })
    expect(plan.out).toMatch(/^\+ {2}resources {2}notes {2}planned$/m)
    expect(plan.out).toContain('Plan for one.test: 2 created, 0 updated')
    expect(await namesIn('one.test')).toEqual([])

    const applied = await iac('apply', '--site', 'one.test', '--file', two, '--json')
    expect(applied.code).toBe(0)
    expect(JSON.parse(applied.out)).toMatchObject({
      status: 'succeeded',
      mode: 'apply',
      summary: { created: 2, failed: 0 },
    })
    expect(await namesIn('one.test')).toEqual(['marks', 'notes'])
    expect(await namesIn('two.test')).toEqual([])

    const unsure = await iac('replace', '--site', 'one.test', '--file', one)
    expect(unsure.code).toBe(1)
    expect(unsure.err).toMatch(/would delete from one\.test:\n {2}- {2}resources {2}marks\n/)
    expect(unsure.err).toContain('--yes')
    expect(await namesIn('one.test')).toEqual(['marks', 'notes'])

    const replaced = await iac('replace', '--site', 'one.test', '--file', one, '--yes')
    expect(replaced).toMatchObject({ code: 0, out: expect.stringContaining('1 deleted') })
    const exported = await iac('export', '--site', 'one.test')
    expect(JSON.parse(exported.out)).toMatchObject({ resources: [table('notes')] })
  }, 60_000)

  test('fails with what the runtime cannot run', async () => {
    const file = await fileOf({
      resources: [
        { type: 'lambdaFunction', name: 'gone', config: { artifact: 'functions/gone.ts' } },
      ],
    })
    const failed = await iac('apply', '--site', 'two.test', '--file', file)
    expect(failed.code).toBe(1)
    expect(failed.err).toContain('"functions/gone.ts" is not a code file of the deployment')
  }, 60_000)

  test('says what is wrong with the file, and repeats nothing of what it holds', async () => {
    const at = ['--site', 'one.test', '--file']
    const [absent, broken, unknown] = await Promise.all([
      iac('apply', '--site', 'one.test'),
      iac('apply', ...at, await fileOf('{"envVars":[{"value":"s3cr3t"')),
      iac('apply', ...at, await fileOf({ tables: [] })),
    ])
    expect(absent.err).toContain('croft.json')
    expect(broken).toMatchObject({ code: 1, err: expect.stringContaining('is not valid JSON') })
    expect(broken.err).not.toContain('s3cr3t')
    expect(unknown).toMatchObject({
      code: 1,
      err: expect.stringContaining('tables: is not a known field'),
    })
  }, 60_000)
})
