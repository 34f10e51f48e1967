import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { arePackagesInstalled } from './extra-packages.ts'

const ROOT = resolve(import.meta.dirname, '..')
const run = promisify(execFile)

describe.skipIf(!arePackagesInstalled('tools'))('the hook before a commit', () => {
  let folder: string
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], { cwd: folder })
  const commit = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    await git('add', name)
    return git('commit', '--quiet', '--message', 'a change')
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'croft-hooks-'))
    await git('init', '--quiet')
    await git('config', 'core.hooksPath', join(ROOT, 'scripts/hooks'))
    await symlink(join(ROOT, 'tools'), join(folder, 'tools'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test.each([
    ['is not formatted', 'badly.ts', 'export   const a = 1\n', 'badly.ts'],
    ['lint refuses', 'linted.ts', 'debugger;\n', 'no-debugger'],
  ])('refuses a file that %s', async (_what, name, text, words) => {
    const refused = await commit(name, text).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 1 })
    const { stdout, stderr } = refused as { stdout: string; stderr: string }
    expect(stdout + stderr).toContain(words)
    await git('rm', '--quiet', '--cached', name)
  })

  test('lets pass what is in order, and files that it does not read', async () => {
    await commit('good.ts', 'export const a = 1;\n')
    await commit('words.txt', 'a   b\n')
    expect((await git('log', '--format=%s')).stdout).toBe('a change\na change\n')
  })
})
