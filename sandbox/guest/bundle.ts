import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build, type BuildOptions, stop, type Plugin, type OnLoadResult } from 'esbuild'

import {
  PART_NAMES,
  type GuestScripts,
  SHARED_FILES,
  type SharedFile,
} from '#sandbox/protocol/part-names.ts'

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

const REPLACED = 'core-js-domains'

const SHARED = 'shared'

/** What libraries in the parts mean by these names, whatever site code has put on the global. */
const PLATFORM_GLOBALS: Readonly<Record<string, SharedFile>> = { URL: 'url.ts' }

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
  // It waits for more work in a process of its own, which would outlive the build and stay beside the service.
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

/** Gives the URL parser of core-js whole IDNA for the subset that it brings. */
const coreJsDomains = (webFolder: string): Plugin => ({
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

/** For the prelude: its free name `$shared` is what the shared files of this folder export, once it is injected. */
const sharesWithParts = (webFolder: string): Plugin =>
  virtualModule('$shared', async () => {
    const entries = SHARED_FILES.map(async (file) => [file, await namesExportedBy(webFolder, file)])
    const files = Object.fromEntries(await Promise.all(entries)) as Record<string, string[]>
    // Not namespaces, which esbuild would make of a getter for each name: that is 50 KB of every isolate.
    const lists = Object.entries(files).map(([file, names], at) => [
      `import { ${names.map((name) => `${name} as ${name}$${at}`).join(', ')} } from './${file}'`,
      `'${file}': { __proto__: null, ${names.map((name) => `${name}: ${name}$${at}`).join(', ')} },`,
    ])
    const [imports, objects] = [0, 1].map((at) => lists.map((list) => list[at]).join('\n'))
    return {
      contents: `${imports}\nexport const $shared = { __proto__: null, ${objects} }`,
      resolveDir: webFolder,
    }
  })

/** For a part: its imports of shared files, which begin with `./`, become what it is handed as `$shared`, not copies. */
const sharedWithPrelude = (webFolder: string): Plugin => ({
  name: 'shared-with-prelude',
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\/[a-z0-9-]+\.ts$/ }, ({ path, resolveDir }) => {
      const file = SHARED_FILES.find((shared) => `./${shared}` === path)
      return file && resolveDir === webFolder ? { path: file, namespace: SHARED } : undefined
    })
    bundler.onLoad({ filter: /.*/, namespace: SHARED }, async ({ path }) => {
      const names = await namesExportedBy(webFolder, path)
      return { contents: names.map((name) => taken(path, name)).join('\n') }
    })
  },
})

/** What a module exports when its types are gone. */
async function namesExportedBy(folder: string, file: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [join(folder, file)],
    bundle: false,
    write: false,
    metafile: true,
    format: 'esm',
    logLevel: 'silent',
  })
  return Object.values(metafile.outputs).flatMap((output) => output.exports)
}

function virtualModule(path: string, load: () => Promise<OnLoadResult>): Plugin {
  return {
    name: path,
    setup(bundler) {
      bundler.onResolve({ filter: /^\$/ }, (asked) =>
        asked.path === path ? { path, namespace: path } : undefined,
      )
      bundler.onLoad({ filter: /.*/, namespace: path }, load)
    },
  }
}

/** Marked so that what a part does not use is left out of it. */
function taken(file: string, name: string): string {
  return `export const ${name} = /* @__PURE__ */ (() => $shared[${JSON.stringify(file)}].${name})()`
}

/** The patterns of URLs are in the syntax of the flag `v`, which the library for them does not know yet. */
const UNICODE_SETS = `${taken('primordials.ts', 'RegExpClass')}
class UnicodeSets extends RegExpClass {
  constructor(source, flags = '') { super(source, flags.replace('u', 'v')) }
}
export { UnicodeSets as RegExp }`

/** For a part, once it is injected: the platform's own classes for the names that libraries use. */
const platformGlobals: Plugin = virtualModule('$globals', async () => ({
  contents: `${Object.entries(PLATFORM_GLOBALS)
    .map(([name, file]) => taken(file, name))
    .join('\n')}\n${UNICODE_SETS}`,
}))
