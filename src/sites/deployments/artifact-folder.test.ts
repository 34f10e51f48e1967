import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { scanArtifact } from './artifact-folder.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croft-artifact-'))
  await write('build.yml', 'ARTIFACT_DIR: dist')
})
afterEach(() => rm(folder, { recursive: true }))

async function write(path: string, text: string) {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('a folder with a build.yml', () => {
  test('gives the files of its artifact directory, hashed and in order', async () => {
    await write('dist/index.html', '<h1>hi</h1>')
    await write('dist/functions/hello.ts', 'export default () => 1')
    await write('src/secret.ts', 'not part of it')
    const { files, buildYml } = await scanArtifact(folder)
    expect(buildYml).toBe('ARTIFACT_DIR: dist')
    expect(files.map(({ path, sha256: hash, sizeBytes }) => [path, hash, sizeBytes])).toEqual([
      ['functions/hello.ts', sha256('export default () => 1'), 22],
      ['index.html', sha256('<h1>hi</h1>'), 11],
    ])
  })

  test('can be the artifact itself, without its history', async () => {
    await write('build.yml', 'ARTIFACT_DIR: .')
    await write('.git/config', 'x')
    await write('hello.ts', 'x')
    const { files } = await scanArtifact(folder)
    expect(files.map(({ path }) => path)).toEqual(['build.yml', 'hello.ts'])
  })

  test('is checked before its files are read', async () => {
    const check = ({ artifactDirectory }: { artifactDirectory: string }) => {
      throw new Error(`saw ${artifactDirectory}`)
    }
    await expect(scanArtifact(folder, check)).rejects.toThrow('saw dist')
  })

  test.each<[string, () => Promise<void>, string]>([
    ['no build.yml', () => rm(join(folder, 'build.yml')), 'There is no build.yml'],
    ['no artifact directory', async () => {}, '"dist" is not there: build the site first'],
    ['an empty one', () => write('dist/.git/x', ''), 'The artifact is empty'],
    ['a file in its place', () => write('dist', ''), '"dist" is not a folder'],
    [
      'a link to a file',
      async () => {
        await write('dist/a', '')
        await symlink('/etc/passwd', join(folder, 'dist/b'))
      },
      '"b" is a symbolic link',
    ],
    [
      'a link to a folder',
      async () => {
        await write('dist/a/b', '')
        await symlink('/etc', join(folder, 'dist/a/c'))
      },
      '"a/c" is a symbolic link',
    ],
    [
      'a link as artifact directory',
      () => symlink('/etc', join(folder, 'dist')),
      '"dist" is not a folder',
    ],
    [
      'a link as build.yml',
      async () => {
        await rm(join(folder, 'build.yml'))
        await symlink('/etc/passwd', join(folder, 'build.yml'))
      },
      'build.yml is not a regular file',
    ],
    ['a backslash', () => write('dist/a\\b', ''), 'contains "\\"'],
    [
      'a file that is too long',
      async () => {
        await write('dist/big', '')
        await truncate(join(folder, 'dist/big'), 33 * 1024 * 1024)
      },
      '"big" is too long',
    ],
    [
      'too much code',
      async () => {
        await write('dist/big.js', '')
        await truncate(join(folder, 'dist/big.js'), 11 * 1024 * 1024)
      },
      'scripts and JSON have 11534336 bytes together: 10485760 are allowed',
    ],
  ])('is refused with %s', async (_what, arrange, message) => {
    await arrange()
    await expect(scanArtifact(folder)).rejects.toThrow(message)
  })
})
