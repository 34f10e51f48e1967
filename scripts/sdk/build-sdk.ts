import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { build } from 'esbuild'

const run = promisify(execFile)
const COPIED = ['package.json', 'README.md']

/** Makes in `outDir` the package of the SDK, as npm takes it: two modules, what they share, and their types. */
export async function buildSdk(root: string, outDir: string): Promise<void> {
  const source = join(root, 'packages/sdk')
  await build({
    absWorkingDir: source,
    entryPoints: ['client.ts', 'server.ts'],
    outdir: outDir,
    bundle: true,
    minify: true,
    // An error of one entry is an error of the other.
    splitting: true,
    chunkNames: 'shared-[hash]',
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'warning',
  })
  await run(process.execPath, [compiler(), '-p', source, '--outDir', outDir])
  for (const name of COPIED) await cp(join(source, name), join(outDir, name))
  await cp(join(root, 'LICENSE'), join(outDir, 'LICENSE'))
}

function compiler(): string {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json')
  return join(dirname(manifest), 'bin/tsc')
}
