import { fileURLToPath } from 'node:url'

const ENTRY = fileURLToPath(new URL('./main.ts', import.meta.url))

/** The script that runs once in every isolate's snapshot: the web platform, then the call runtime. */
export async function bundlePrelude(entry: string = ENTRY): Promise<string> {
  // Else esbuild would run on, in a thread and a process of its own, beside the service.
  // oxlint-disable-next-line node/no-process-env -- esbuild has no other way to be told
  process.env['ESBUILD_WORKER_THREADS'] = '0'
  const { buildSync } = await import('esbuild')
  const { outputFiles } = buildSync({
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
  const [script] = outputFiles
  if (script === undefined) throw new Error(`esbuild made no script of ${entry}`)
  return script.text
}
