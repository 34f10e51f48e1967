import { fileURLToPath } from 'node:url'

import { build, type BuildOptions, stop } from 'esbuild'

import { PART_NAMES, type GuestScripts } from '#sandbox/protocol/part-names.ts'

import { coreJsDomains } from './core-js-domains.ts'
import {
  namesExportedBy,
  platformGlobals,
  sharedWithPrelude,
  sharesWithParts,
} from './shared-imports.ts'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const WEB = fileURLToPath(new URL('./web', import.meta.url))

const OPTIONS = {
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
} as const satisfies BuildOptions

/**
 * The script that runs once in every isolate's snapshot, the web platform and then the call runtime; and the parts that
 * contexts load later.
 */
export async function bundleGuest(): Promise<GuestScripts> {
  const [prelude, ...parts] = await Promise.all([
    bundled({
      entryPoints: [`${FOLDER}main.ts`],
      inject: ['$shared'],
      plugins: [sharesWithParts(WEB), coreJsDomains(WEB)],
    }),
    ...PART_NAMES.map((name) => bundlePart(name)),
  ])
  // It waits for more work in a process of its own, which would stay beside the service for good.
  await stop()
  const named = PART_NAMES.map((name, at) => [name, parts[at] ?? ''])
  return { prelude, parts: Object.fromEntries(named) as GuestScripts['parts'] }
}

/** An expression: the function that `PartScript` describes. */
async function bundlePart(name: string): Promise<string> {
  const names = (await namesExportedBy(WEB, `${name}.part.ts`)).join(', ')
  const text = await bundled({
    stdin: {
      contents: `import { ${names} } from './${name}.part.ts'\n$provide({ __proto__: null, ${names} })`,
      resolveDir: WEB,
      loader: 'ts',
    },
    inject: ['$globals'],
    plugins: [sharedWithPrelude(WEB), platformGlobals],
  })
  // In brackets, so that V8 compiles all of it at once and keeps that for the next context: 1 ms instead of 6.
  return `(($shared,$provide)=>{"use strict";${text}})`
}

async function bundled(
  options: Pick<BuildOptions, 'entryPoints' | 'inject' | 'stdin' | 'plugins'>,
): Promise<string> {
  const { outputFiles } = await build({ ...OPTIONS, ...options })
  const [script] = outputFiles
  if (script === undefined) throw new Error('esbuild made no script')
  return script.text
}
