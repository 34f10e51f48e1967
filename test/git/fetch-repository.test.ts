import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { fetchRepository } from '#platform/git/fetch-repository.ts'

let folder: string
let origin: string
const git = (...args: string[]) =>
  execFileSync('git', ['-C', origin, '-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], {
    encoding: 'utf8',
  }).trim()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-git-'))
  origin = join(folder, 'origin')
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', origin])
  await writeFile(join(origin, 'build.yml'), 'ARTIFACT_DIR: site\n')
  await symlink('/etc/passwd', join(origin, 'link'))
  git('add', '-A')
  git('commit', '--quiet', '-m', 'one')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const fetch = (name: string, options: Partial<Parameters<typeof fetchRepository>[0]> = {}) =>
  fetchRepository({
    url: `file://${origin}`,
    branch: 'main',
    intoDir: join(folder, name),
    signal: AbortSignal.timeout(30_000),
    timeoutMs: 20_000,
    maxBytes: 10_000_000,
    allowFileUrls: true,
    ...options,
  })

describe('fetching a repository', () => {
  test('brings the newest commit of the branch', async () => {
    expect(await fetch('plain')).toMatchObject({ commit: git('rev-parse', 'HEAD') })
    expect(await readFile(join(folder, 'plain', 'build.yml'), 'utf8')).toBe('ARTIFACT_DIR: site\n')
  })

  test('makes plain files of symbolic links, so that none leads outside', async () => {
    expect((await fetch('links')).symbolicLinks).toEqual(['link'])
    expect(await readFile(join(folder, 'links', 'link'), 'utf8')).toBe('/etc/passwd')
  })

  test('names a branch that is not there', async () => {
    await expect(fetch('missing', { branch: 'nope' })).rejects.toMatchObject({
      code: 'RefNotFound',
      message: expect.stringContaining('nope'),
    })
  })

  test.each([
    ['a local path', { allowFileUrls: false }],
    ['a helper', { url: 'ext::sh -c "touch pwned"' }],
    ['an option as URL', { url: '--upload-pack=touch pwned' }],
    ['an option as host', { url: 'ssh://-oProxyCommand=touch/x' }],
    ['an option as scp host', { url: 'a@-oProxyCommand=x:y z' }],
    ['a plain word', { url: 'repository' }],
  ])('refuses %s', async (name, options) => {
    await expect(fetch(`refused ${name}`, options)).rejects.toMatchObject({
      code: 'SourceUnavailable',
    })
    expect(existsSync('pwned')).toBe(false)
  })

  test('refuses an option as branch', async () => {
    const fetched = fetch('refused branch', { branch: '--upload-pack=x' })
    await expect(fetched).rejects.toMatchObject({ code: 'ValidationError' })
  })

  test('stops at its bounds, and says which one', async () => {
    await expect(fetch('slow', { timeoutMs: 1 })).rejects.toThrow('longer than 1 ms')
    await expect(fetch('cancelled', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'SourceUnavailable',
    })
  })

  test('refuses what is larger than allowed', async () => {
    await expect(fetch('large', { maxBytes: 1000 })).rejects.toMatchObject({
      code: 'SourceUnavailable',
      message: expect.stringContaining('larger than 1000 bytes'),
    })
  })

  test('leaves nothing running when the other side stalls', async () => {
    const closed = Promise.withResolvers<boolean>()
    const stalled = createServer((socket) => {
      socket.on('error', () => {}).resume()
      socket.once('close', () => closed.resolve(true))
    })
    await new Promise<void>((resolve) => stalled.listen(0, '127.0.0.1', resolve))
    const { port } = stalled.address() as AddressInfo
    const url = `git://127.0.0.1:${port}/repo.git`
    await expect(fetch('stalled', { url, timeoutMs: 300 })).rejects.toThrow('longer than 300 ms')
    expect(await closed.promise).toBe(true)
    stalled.close()
  })

  test('says what to install where there is no git', async () => {
    vi.stubEnv('PATH', folder)
    try {
      await expect(fetch('none')).rejects.toThrow('install it')
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('keeps the credentials of a URL out of its errors', async () => {
    const url = 'https://user:hunter2@127.0.0.1:9/repo.git'
    const failure: unknown = await fetch('secret', { url }).catch((error: unknown) => error)
    expect(String(failure)).toContain('127.0.0.1')
    expect(String(failure)).not.toContain('hunter2')
  })
})
