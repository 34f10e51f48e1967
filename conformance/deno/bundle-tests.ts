import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build, type Plugin } from 'esbuild'

const HERE = new URL('./stand-ins/', import.meta.url)
const standIn = (name: string): string => fileURLToPath(new URL(name, HERE))
/** What the tests import and do not bring: the first that fits. */
const STAND_INS: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)test_util\.ts$/, standIn('test-util.ts')],
  [/^(?:jsr:)?@std\/assert\b/, standIn('assert.ts')],
  [/^(?:jsr:)?@std\/async\b/, standIn('async.ts')],
  [/^(?:jsr:)?@std\/bytes\b/, standIn('bytes.ts')],
]
const RUN = `import { runTests } from ${JSON.stringify(standIn('harness.ts'))}`

/** A file of Deno's tests with everything it imports, as one module that runs them. Throws where that is not to be had. */
export async function bundleTests(path: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: dirname(path),
    stdin: {
      contents: `${RUN}\nimport ${JSON.stringify(path)}\nawait runTests()`,
      resolveDir: dirname(path),
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'esnext',
    logLevel: 'silent',
    // A file of tests may name the one thing that only the runner has.
    define: { 'Deno.test': 'denoTest' },
    inject: [standIn('harness.ts')],
    plugins: [answersWithStandIns],
  })
  return outputFiles[0]?.text ?? ''
}

const answersWithStandIns: Plugin = {
  name: 'stand-ins',
  setup(builder) {
    builder.onResolve({ filter: /./ }, ({ path }) => {
      const found = STAND_INS.find(([pattern]) => pattern.test(path))
      return found && { path: found[1] }
    })
  },
}
