import { execFileSync } from 'node:child_process'
import { copyFile, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { type Mutation, mutated } from './mutation.ts'

/** The sources as they are now, with the installed packages. */
export class SourcesCopy implements AsyncDisposable {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async of(root: string): Promise<SourcesCopy> {
    const copy = new SourcesCopy(await mkdtemp(join(tmpdir(), 'croft-mutate-')))
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
    const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    for (const path of listed.split('\0')) {
      const isFile = path !== '' && (await lstat(join(root, path)).catch(() => undefined))
      if (!isFile) continue
      await mkdir(dirname(join(copy.folder, path)), { recursive: true })
      await copyFile(join(root, path), join(copy.folder, path))
    }
    for (const path of ['node_modules', 'peers/node_modules', 'test/node_modules']) {
      await symlink(join(root, path), join(copy.folder, path), 'dir')
    }
    return copy
  }

  async with<T>(mutation: Mutation, work: (folder: string) => Promise<T>): Promise<T> {
    const path = join(this.folder, mutation.file)
    const source = await readFile(path, 'utf8')
    await writeFile(path, mutated(source, mutation))
    try {
      return await work(this.folder)
    } finally {
      await writeFile(path, source)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}
