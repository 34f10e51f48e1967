import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { gitFolderState } from '#platform/git/folder-state.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'croft-folder-state-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@a.test',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@a.test',
    },
  }).trim()

function repository(name: string): string {
  const folder = join(root, name)
  mkdirSync(join(folder, 'site'), { recursive: true })
  git(folder, 'init', '--quiet', '--initial-branch=release')
  writeFileSync(join(folder, 'site', 'build.yml'), 'ARTIFACT_DIR: dist')
  git(folder, 'add', '.')
  git(folder, 'commit', '--quiet', '--message=first')
  return folder
}

describe('the git state of a folder', () => {
  test('is its commit and branch', async () => {
    const folder = repository('clean')
    const commit = git(folder, 'rev-parse', 'HEAD')
    const state = { commit, branch: 'release', dirty: false }
    expect(await gitFolderState(join(folder, 'site'))).toEqual(state)
    // What changed elsewhere in the repository is not of this folder.
    writeFileSync(join(folder, 'notes'), 'x')
    expect(await gitFolderState(join(folder, 'site'))).toEqual(state)
  })

  test.each(['new', 'build.yml'])('is dirty with %s not committed', async (name) => {
    const folder = repository(`dirty-${name}`)
    writeFileSync(join(folder, 'site', name), 'changed')
    expect(await gitFolderState(join(folder, 'site'))).toMatchObject({ dirty: true })
  })

  test('has no branch on a detached head', async () => {
    const folder = repository('detached')
    git(folder, 'checkout', '--quiet', '--detach')
    expect(await gitFolderState(folder)).toMatchObject({ branch: null, dirty: false })
  })

  test('runs nothing that the repository configures', async () => {
    const folder = repository('hostile')
    const mark = join(root, 'ran')
    git(folder, 'config', 'core.fsmonitor', `touch ${mark}; false`)
    await gitFolderState(folder)
    expect(() => rmSync(mark)).toThrow('ENOENT')
  })

  test('is unknown outside a repository, before a first commit and where no folder is', async () => {
    const plain = mkdtempSync(join(root, 'plain-'))
    expect(await gitFolderState(plain)).toBeUndefined()
    git(plain, 'init', '--quiet')
    expect(await gitFolderState(plain)).toBeUndefined()
    expect(await gitFolderState(join(root, 'nowhere'))).toBeUndefined()
  })
})
