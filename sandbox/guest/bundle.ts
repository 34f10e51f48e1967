import { fileURLToPath } from 'node:url'

import { build, stop } from 'esbuild'

const ENTRY = fileURLToPath(new URL('./main.ts', import.meta.url))

/** The script that runs once in every isolate's snapshot: the web platform, then the call runtime. */
export async function bundlePrelude(entry: string = ENTRY): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['import', 'default'],
    target: 'esnext',
    // One wide character would make V8 keep two bytes for each of the script, in every isolate.
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"', Buffer: 'undefined', process: 'undefined' },
  })
  // It waits for more work in a process of its own, which would stay beside the service for good.
  await stop()
  const [script] = outputFiles
  if (script === undefined) throw new Error(`esbuild made no script of ${entry}`)
  return script.text
}
