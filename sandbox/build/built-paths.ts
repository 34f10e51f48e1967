import { readFile } from 'node:fs/promises'

import type { Plugin } from 'esbuild'

const LOOKED_UP = /(import\.meta\.resolve\(|new URL\()'((?:\.{1,2}\/|#)[^']*)\.ts'/g
/** Such as the URL of `list.bin` relative to `import.meta.url`. */
const LEFT_BEHIND = /new URL\('[^']*[^./']\.(?!ts')[^./']+', import\.meta\.url\)/

/** Files that code looks up at run time are JavaScript in a build. */
export const builtPaths: Plugin = {
  name: 'built-paths',
  setup(build) {
    build.onLoad({ filter: /\/(?:src|sandbox)\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const missing = leftBehind(source)
      if (missing === undefined) return { contents: toBuiltPaths(source), loader: 'ts' }
      return {
        errors: [{ text: `${path}: ${missing} is not in a build: put the file into resources/` }],
      }
    })
  },
}

export const toBuiltPaths = (source: string): string => source.replace(LOOKED_UP, "$1'$2.js'")

/** What code looks up beside its own source and no build has there: its bundle is in another folder. */
export const leftBehind = (source: string): string | undefined => LEFT_BEHIND.exec(source)?.[0]
