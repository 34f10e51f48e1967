import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { type Aliases, type Module, readModule } from './module.ts'

/** Every file of the product under `root`, in the order of their paths: `src/` and `sandbox/` without their tests. */
export async function productModules(root: string): Promise<Module[]> {
  const { imports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly imports: Aliases
  }
  const paths = await Array.fromAsync(glob('{src,sandbox}/**/*.ts', { cwd: root }))
  const product = paths.filter((path) => !path.endsWith('.test.ts') && !path.includes('/testing/'))
  return Promise.all(
    product
      .toSorted()
      .map(async (path) => readModule(path, await readFile(join(root, path), 'utf8'), imports)),
  )
}
