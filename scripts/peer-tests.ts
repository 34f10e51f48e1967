import { relative } from 'node:path'

import type { Plugin } from 'vitest/config'

/**
 * Files named `*.peers.test.ts` import packages of `peers/`. Without these packages each of the files is one test that is
 * skipped, and in CI one error.
 */
export function peerTests({ isInstalled }: { readonly isInstalled: boolean }): Plugin {
  const isError = Boolean(process.env['CI'])
  const outcome = isInstalled ? 'run' : isError ? 'fail' : 'skip'
  return {
    // Vitest keeps between runs what it loaded, under a key in which nothing but the name says that it differs.
    name: `croft-peer-tests-${outcome}`,
    enforce: 'pre',
    load(id) {
      if (isInstalled || !id.endsWith('.peers.test.ts')) return
      const why = JSON.stringify(
        `${relative('.', id)} needs the packages of peers/: "npm run peers" installs them`,
      )
      if (isError) return `throw new Error(${why})`
      return `import { test } from 'vitest'\ntest.skip(${why}, () => {})`
    },
  }
}
