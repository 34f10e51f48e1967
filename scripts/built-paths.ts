import { readFile } from 'node:fs/promises'

import type { Plugin } from 'esbuild'

const BESIDE = /(import\.meta\.resolve\(|new URL\()'(\.{1,2}\/[^']*)\.ts'/g

/** Files that code finds at run time, beside itself, are JavaScript in a build. */
export const builtPaths: Plugin = {
  name: 'built-paths',
  setup(build) {
    build.onLoad({ filter: /\/(?:src|sandbox)\/.*\.ts$/ }, async ({ path }) => ({
      contents: toBuiltPaths(await readFile(path, 'utf8')),
      loader: 'ts',
    }))
  },
}

export const toBuiltPaths = (source: string): string => source.replace(BESIDE, "$1'$2.js'")
