import type { Plugin } from 'esbuild'

/** Puts the finished prelude where the service would bundle it from its sources at every start. */
export const builtPrelude = (prelude: string): Plugin => ({
  name: 'built-prelude',
  setup(build) {
    build.onLoad({ filter: /\/sandbox\/guest\/bundle\.ts$/ }, () => ({
      contents: `const PRELUDE = ${JSON.stringify(prelude)}\nexport const bundlePrelude = () => Promise.resolve(PRELUDE)\n`,
      loader: 'js',
    }))
  },
})
