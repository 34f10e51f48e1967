import { type ChildProcess, execFile, spawn } from 'node:child_process'
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type Answer, request } from '#test/http-client.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const START_MS = 60_000

let folder: string
/** Moved after it was built, so that nothing in it can lead back. */
let dist: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-dist-'))
  // As root the database runs as somebody else, who must get there.
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
        'cli/main.js',
        'examples/hello-site/build.yml',
        'LICENSE',
        'main.js',
        'migrations/0001_sites.sql',
        'package-lock.json',
        'package.json',
        'README.md',
        'sandbox/main.js',
        'sandbox/prelude.js',
        'sandbox/worker.js',
        'types/bucket.d.ts',
        'types/croft.d.ts',
        'types/table.d.ts',
      ]),
    )
    const sources = files.filter(
      (file) => file.endsWith('.ts') && !/^(?:examples|types)\//.test(file),
    )
    expect(sources).toEqual([])
  })

  test('has the dependencies that its lock file names, and one script', async () => {
    const read = async (file: string) => JSON.parse(await readFile(file, 'utf8'))
    const [manifest, lock] = [
      await read(join(dist, 'package.json')),
      await read(join(dist, 'package-lock.json')),
    ]
    expect(manifest.scripts).toEqual({ start: 'exec node bin/croft.js serve' })
    for (const kind of ['dependencies', 'optionalDependencies', 'devDependencies']) {
      expect(manifest[kind]).toEqual(lock.packages[''][kind])
    }
  })

  test('does not build into a folder that holds something', async () => {
    await expect(build(dist)).rejects.toThrow('not empty')
  })

  test('answers an operation from where it was moved to, and stops when told', async () => {
    await symlink(join(ROOT, 'node_modules'), join(dist, 'node_modules'), 'dir')
    const port = await freePort()
    const output: string[] = []
    const service = spawn(process.execPath, [join(dist, 'bin/croft.js'), 'serve'], {
      env: environment(port),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [service.stdout, service.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => output.push(text))
    }
    const exited = new Promise<number | null>((done) => service.once('exit', done))
    try {
      const answer = await firstAnswer(port, service, output)
      expect(answer.json).toMatchObject({ ok: true })
      expect(answer.text).toContain('Ada')
      await access(join(folder, 'data'))
    } finally {
      service.kill('SIGTERM')
    }
    expect(await exited).toBe(0)
  })
})

const build = (outDir: string) =>
  promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build.ts'), '--out', outDir])

/** Asks until the service is up and the site that every installation starts with is published. */
async function firstAnswer(
  port: number,
  service: ChildProcess,
  output: readonly string[],
): Promise<Answer> {
  const endMs = performance.now() + START_MS
  const call = {
    port,
    host: 'localhost',
    method: 'POST',
    path: '/data/public/hello',
    headers: { 'content-type': 'application/json' },
    body: { payload: { name: 'Ada' } },
  }
  for (;;) {
    const answer = await request(call).catch(() => undefined)
    if (answer?.status === 200) return answer
    if (service.exitCode !== null || performance.now() > endMs) {
      throw new Error(`no answer but ${answer?.status} ${answer?.text}:\n${output.join('')}`)
    }
    await new Promise((resume) => setTimeout(resume, 25))
  }
}

/** As on a machine that has nothing else: what names other services is left out. */
function environment(port: number): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, CROFT_DATA_DIR: join(folder, 'data'), PORT: String(port) }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => probe.once('listening', listening))
  const address = probe.address()
  await new Promise((closed) => probe.close(closed))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
