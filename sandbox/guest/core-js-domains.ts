import type { Plugin } from 'esbuild'

const REPLACED = 'core-js-domains'

/** Gives the URL parser of core-js whole IDNA for the subset that it brings. */
export const coreJsDomains = (webFolder: string): Plugin => ({
  name: REPLACED,
  setup(bundler) {
    bundler.onResolve({ filter: /\/string-punycode-to-ascii$/ }, ({ path }) => ({
      path,
      namespace: REPLACED,
    }))
    bundler.onLoad({ filter: /.*/, namespace: REPLACED }, () => ({
      contents: `module.exports = require('./domain-to-ascii.ts').domainToAscii`,
      resolveDir: webFolder,
    }))
  },
})
