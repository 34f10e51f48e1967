import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

import type { Message, TransformOptions } from 'esbuild-wasm'

import { BrokenParser, Refusal, tooDeep } from './refusal.ts'
import type { TypeScriptSettings } from './typescript/settings.ts'

/** One file that is more than types. Twice as much takes five seconds and 440 MB. */
const MAX_LENGTH = 1024 * 1024
/** What is not there in this Node is written in what is. */
const TARGET = 'node24'
const MESSAGE_LENGTH = 2000

export interface Transformed {
  readonly code: string
  /** `mappings` of ECMA-426: where each part of the code was in the source. */
  readonly map: string
}

type Transform = (source: string, options: TransformOptions) => Promise<Transformed>

let transform: Promise<Transform> | undefined

/**
 * Turns TypeScript and JSX into what V8 reads: enums, namespaces, decorators, parameter properties, imports of what is only
 * a type. It is esbuild as WebAssembly, in this very process: the walls around it let it start no other.
 */
export async function transformTypeScript(
  path: string,
  source: string,
  settings: TypeScriptSettings,
): Promise<Transformed> {
  if (source.length > MAX_LENGTH) {
    const message = `"${path}" is more than TypeScript's types and longer than ${MAX_LENGTH} characters: split it, or deploy what your own compiler makes of it`
    throw new Refusal({ message, path })
  }
  const run = await (transform ??= loadTransform())
  try {
    return await run(source, optionsFor(path, source, settings))
  } catch (error) {
    const [first] = messagesOf(error)
    if (first === undefined) throw new BrokenParser(tooDeep(path))
    throw new Refusal(faultOf(first, path))
  }
}

async function loadTransform(): Promise<Transform> {
  // What it is in browsers: there it needs no process of its own, and looks for globals on `self`.
  Object.assign(globalThis, { self: globalThis })
  const { default: esbuild } = await import('esbuild-wasm/lib/browser.js')
  const file = createRequire(import.meta.url).resolve('esbuild-wasm/esbuild.wasm')
  const wasmModule = await WebAssembly.compile(await readFile(file))
  await esbuild.initialize({ wasmModule, worker: false })
  return async (source, options) => {
    const { code, map } = await esbuild.transform(source, options)
    const { mappings } = JSON.parse(map) as { mappings: string }
    return { code, map: mappings }
  }
}

function optionsFor(path: string, source: string, settings: TypeScriptSettings): TransformOptions {
  const { jsx, jsxDev, jsxFactory, jsxFragmentFactory } = settings
  const importSource = importSourceFor(path, settings.jsxImportSource)
  return {
    loader: loaderOf(path),
    target: TARGET,
    sourcefile: path,
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'silent',
    jsx: jsx === 'automatic' ? 'automatic' : 'transform',
    jsxDev,
    ...(jsxFactory === undefined ? {} : { jsxFactory }),
    ...(jsxFragmentFactory === undefined ? {} : { jsxFragment: jsxFragmentFactory }),
    ...(importSource === undefined ? {} : { jsxImportSource: importSource }),
    ...(isCommonJs(path, source) ? { format: 'cjs' } : {}),
    tsconfigRaw: {
      compilerOptions: {
        experimentalDecorators: settings.experimentalDecorators,
        verbatimModuleSyntax: settings.verbatimModuleSyntax,
      },
    },
  }
}

function loaderOf(path: string): 'ts' | 'tsx' | 'jsx' {
  if (path.endsWith('.tsx')) return 'tsx'
  return path.endsWith('.jsx') ? 'jsx' : 'ts'
}

/** TypeScript has these two only where it writes CommonJS. */
const isCommonJs = (path: string, source: string): boolean =>
  path.endsWith('.cts') ||
  /^\s*(?:export\s+)?import\s+[\w$]+\s*=\s*require\s*\(|^\s*export\s*=/m.test(source)

/** A source in the artifact, as a file in some folder of it has to import it. */
function importSourceFor(path: string, source: string | undefined): string | undefined {
  if (source === undefined || !source.startsWith('./')) return source
  const depth = path.split('/').length - 1
  return depth === 0 ? source : `${'../'.repeat(depth)}${source.slice('./'.length)}`
}

function faultOf({ text, location }: Message, path: string) {
  const message = text.slice(0, MESSAGE_LENGTH)
  if (!location) return { message, path }
  const before = Buffer.from(location.lineText).subarray(0, location.column).toString()
  return { message, path, line: location.line, column: before.length + 1 }
}

function messagesOf(error: unknown): readonly Message[] {
  if (!(error instanceof Error) || !('errors' in error)) return []
  return Array.isArray(error.errors) ? (error.errors as Message[]) : []
}
