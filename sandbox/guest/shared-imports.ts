import { join } from 'node:path'

import { build, type OnLoadResult, type Plugin } from 'esbuild'

import { SHARED_FILES, type SharedFile } from '#sandbox/protocol/part-names.ts'

const SHARED = 'shared'
/** What libraries in the parts mean by these names, whatever site code has put on the global. */
const PLATFORM_GLOBALS: Readonly<Record<string, SharedFile>> = { URL: 'url.ts' }

/** The patterns of URLs are in the syntax of the flag `v`, which the library for them does not know yet. */
const UNICODE_SETS = `${taken('primordials.ts', 'RegExpClass')}
class UnicodeSets extends RegExpClass {
  constructor(source, flags = '') { super(source, flags.replace('u', 'v')) }
}
export { UnicodeSets as RegExp }`

/** For the prelude: its free name `$shared` is what the shared files of this folder export, once it is injected. */
export const sharesWithParts = (webFolder: string): Plugin =>
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
export const sharedWithPrelude = (webFolder: string): Plugin => ({
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

/** For a part, once it is injected: the platform's own classes for the names that libraries use. */
export const platformGlobals: Plugin = virtualModule('$globals', async () => ({
  contents: `${Object.entries(PLATFORM_GLOBALS)
    .map(([name, file]) => taken(file, name))
    .join('\n')}\n${UNICODE_SETS}`,
}))

/** What a module exports when its types are gone. */
export async function namesExportedBy(folder: string, file: string): Promise<readonly string[]> {
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
