import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { denoBinary, denoMissing } from '#sandbox/guest/testing/deno.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const run = promisify(execFile)
const EXAMPLE = `${resolve(import.meta.dirname, '..', '..', 'examples/hello-site')}/`
const FUNCTION = `${EXAMPLE}site/functions/notes.ts`
const SHIM = `${EXAMPLE}testing/croft-shim.ts`
const SCRIPT = resolve(import.meta.dirname, '..', 'processes/notes-on-deno.ts')
const OFFLINE = ['--no-remote', '--no-lock', '--quiet'] as const

/** What visitors send one after the other. */
const STEPS = [
  { sub: 'ada', payload: null },
  { sub: 'ada', payload: { text: 'one' } },
  { sub: 'ada', payload: { text: 'zwei ☂' } },
  { sub: 'bob', payload: { text: 'his' } },
  { sub: 'ada', payload: { text: '' } },
  { sub: 'ada', payload: { text: 7 } },
  ...Array.from({ length: 12 }, (_, n) => ({ sub: 'ada', payload: { text: `more ${n}` } })),
  { sub: 'bob', payload: null },
]

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: ['one.test'] })
})
afterAll(() => stack[Symbol.asyncDispose]())

const missing = denoMissing()

describe.skipIf(missing)(`the example${missing ? ` (${missing})` : ''}`, () => {
  test('passes its own tests on Deno', async () => {
    const { stdout } = await run(denoBinary(), ['test', ...OFFLINE, 'testing'], { cwd: EXAMPLE })
    expect(stdout).toContain('3 passed')
  })

  test('answers on Deno over the shim as it does on a site', async () => {
    const args = ['run', ...OFFLINE, '--no-check', '--allow-read', SCRIPT, FUNCTION, SHIM]
    const onDeno = await run(denoBinary(), [...args, JSON.stringify(STEPS)], { cwd: EXAMPLE })
    expect(await onSite()).toEqual(JSON.parse(onDeno.stdout))
  })
})

async function onSite(): Promise<unknown[]> {
  const site = await RuntimeSite.open(stack, 'one.test')
  const made = await site.admin('POST', '/resources', {
    type: 'ddbTable',
    name: 'notes',
    config: { partitionKey: { name: 'owner', type: 'S' }, sortKey: { name: 'at', type: 'S' } },
  })
  const resources = [{ resourceId: made.json.resourceId, access: 'readWrite' }]
  const code = await readFile(FUNCTION, 'utf8')
  const lambdaResourceId = await site.putFunction('keepNotes', code, { resources })
  await site.putOperation('notes', { lambdaResourceId, auth: { mode: 'authenticated' } })
  await site.synced()
  const outcomes: unknown[] = []
  for (const { sub, payload } of STEPS) {
    const token = await stack.dataToken('one.test', { user: `${sub}@one.test` })
    const { json } = await site.callAs(token, 'notes', payload)
    const { code: errorCode, message } = json.error ?? {}
    outcomes.push(json.ok === true ? { data: json.data } : { code: errorCode, message })
  }
  return outcomes
}
