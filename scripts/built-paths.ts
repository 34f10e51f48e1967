import { readFile } from 'node:fs/promises'

import type { Plugin } from 'esbuild'

const LOOKED_UP = /(import\.meta\.resolve\(|new URL\()'((?:\.{1,2}\/|#)[^']*)\.ts'/g

/** Files that code looks up at run time are JavaScript in a build. */
export const builtPaths: Plugin = {
  name: 'built-paths',
  setup(build) {
    build.onLoad({ filter: /\/(?:src|sandbox)\/.*\.ts$/ }, async ({ path }) => ({
      contents: toBuiltPaths(await readFile(path, 'utf8')),
      loader: 'ts',
    }))
  },
}

export const toBuiltPaths = (source: string): string => source.replace(LOOKED_UP, "$1'$2.js'")
