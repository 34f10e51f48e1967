import { extname, join } from 'node:path'

import { build } from 'esbuild'

/** Where the files are served. */
const BASE = '/-/console/'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

export interface ConsoleFile {
  /** `/-/console/main-HASH.js`: its content never changes. */
  readonly path: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

export interface BuiltConsole {
  readonly files: readonly ConsoleFile[]
  /** The path of the module that the page loads. */
  readonly entry: string
  /** The path of the style sheet. */
  readonly styles: string
  /** What the entry imports at once: the page may preload it. */
  readonly preloads: readonly string[]
}

/** Bundles the console for browsers. Each screen and each language is a file of its own, loaded when it is needed. */
export async function buildConsole(): Promise<BuiltConsole> {
  const root = import.meta.dirname
  const outdir = join(root, 'dist')
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: 'src/main.tsx', styles: 'src/styles/main.css' },
    outdir,
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    target: ['es2023', 'chrome120', 'firefox121', 'safari17.2'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    publicPath: BASE,
    legalComments: 'none',
    logLevel: 'warning',
  })
  const files = outputFiles.map(({ path, contents }) => ({
    path: servedPath(path.slice(outdir.length + 1)),
    contentType: CONTENT_TYPES[extname(path)] ?? 'application/octet-stream',
    bytes: contents,
  }))
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({
    path: servedPath(path.replace(/^dist\//, '')),
    output,
  }))
  const ofEntry = (source: string) => outputs.find(({ output }) => output.entryPoint === source)
  const entry = ofEntry('src/main.tsx')
  const styles = ofEntry('src/styles/main.css')
  if (!entry || !styles) throw new Error('The console has no entry')
  return { files, entry: entry.path, styles: styles.path, preloads: importsOf(entry.output) }
}

const servedPath = (name: string): string => BASE + name

const importsOf = ({
  imports,
}: {
  readonly imports: readonly { readonly path: string; readonly kind: string }[]
}): string[] =>
  imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => servedPath(path.replace(/^dist\//, '')))
