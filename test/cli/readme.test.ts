import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Stack, startStack } from '#test/stack.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '..', '..')
const CROFT = join(ROOT, 'bin/croft.js')

const resources = new AsyncDisposableStack()
let stack: Stack
let folder: string
beforeAll(async () => {
  stack = resources.use(await startStack({ sites: ['one.test'] }))
  folder = await mkdtemp(join(tmpdir(), 'croft-readme-'))
  resources.defer(() => rm(folder, { recursive: true }))
})
afterAll(() => resources.disposeAsync())

/** The README's shell commands that begin with these words, as they stand. */
async function commands(begin: string): Promise<string> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block)
  const found = blocks.find((block) => block.startsWith(begin))
  if (found === undefined) throw new Error(`The README has no commands that begin "${begin}"`)
  return found
}

/** `npx croft` is this checkout's, and the service is ours. */
async function shell(script: string): Promise<string> {
  const npx = `npx() { shift; node ${JSON.stringify(CROFT)} "$@"; }\n`
  const { stdout } = await run(
    'bash',
    ['-euc', npx + script.replaceAll(':8080', `:${stack.port}`)],
    {
      cwd: folder,
      env: {
        ...process.env,
        CROFT_BASE_URL: stack.baseUrl('127.0.0.1'),
        CROFT_OPERATOR_KEY: stack.operatorKey,
      },
    },
  )
  return stdout
}

test('The README’s site from nothing is deployed and answers as it says', async () => {
  await shell(await commands('mkdir -p my-site'))
  const deploying = await commands('npx croft site create --domain blog.test')
  const answer = (await shell(deploying)).trim().split('\n').at(-1)
  expect(`# ${answer}`).toBe(deploying.trim().split('\n').at(-1))
})
