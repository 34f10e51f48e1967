import { isBuiltin } from 'node:module'

import type { Message, Metafile, Plugin } from 'esbuild'

import { chainText, chainTo, packageNameOf, packageOf } from './import-chain.ts'

/** By the first part of the name: what site code has instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  assert: 'throw an Error',
  async_hooks: 'hand values on as arguments',
  buffer: 'use Uint8Array, TextEncoder, btoa and atob',
  child_process: 'no other program can be started: call a service with fetch',
  console: 'use the global console',
  crypto: 'use crypto.subtle, crypto.getRandomValues and crypto.randomUUID',
  dns: 'no names are looked up: call a service with fetch',
  events: 'use EventTarget',
  fs: 'keep files in a bucket, or import a JSON or text file',
  http: 'use fetch, and answer with "export default { fetch }"',
  http2: 'use fetch',
  https: 'use fetch',
  net: 'there are no sockets: use fetch',
  os: 'nothing of the machine is visible',
  path: 'work on strings, or with new URL',
  perf_hooks: 'use the global performance',
  process: 'use ctx.env for variables',
  punycode: 'use new URL, which writes host names in ASCII',
  querystring: 'use URLSearchParams',
  sqlite: 'use a table',
  stream: 'use ReadableStream, WritableStream and TransformStream',
  string_decoder: 'use TextDecoder',
  timers: 'use the global setTimeout and setInterval',
  tls: 'there are no sockets: use fetch',
  url: 'use the global URL and URLSearchParams',
  util: 'use structuredClone, TextEncoder and TextDecoder',
  worker_threads: 'everything runs on one thread: split the work into jobs',
  zlib: 'take a package in plain JavaScript, such as fflate',
}

/** npm packages of the same name that do the same in plain JavaScript. */
const IN_PLAIN_JAVASCRIPT = [
  'assert',
  'buffer',
  'events',
  'punycode',
  'string_decoder',
  'url',
  'util',
]

/** What keeps a function from being bundled, or may fail while it runs. */
export interface Problem {
  /** `site/functions/save.ts:3:21: …` with the line of code below. */
  readonly text: string
}

const UNRESOLVED = /^Could not resolve "(.*)"$/
const NO_LOADER = /^No loader is configured for "[^"]*" files: (.*)$/
const GENERIC_NOTE = /^You can mark the path /
const MAX_LINE_LENGTH = 160

/** What no bundler can take in, by how it is written. */
const REFUSED_FILES: readonly (readonly [filter: RegExp, reason: string])[] = [
  [/\.node$/, 'is compiled for Node: site code takes packages in plain JavaScript'],
  [/\.wasm$/, 'is WebAssembly, which does not run in site code'],
  [/\.css$/, 'is a style sheet, and a function has no page: serve it as a file of the site'],
]
const REMOTE = /^(?:https?:)?\/\//
const NOT_FETCHED = 'is not fetched: install the package with npm, and import it by its name'

/** Refuses by name what esbuild would leave out, or leave to be found where the code runs. */
export const refusedImports: Plugin = {
  name: 'refused-imports',
  setup(build) {
    build.onResolve({ filter: REMOTE }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { errors: [{ text: `"${path}" ${NOT_FETCHED}` }] },
    )
    for (const [filter, reason] of REFUSED_FILES) {
      // Any file can be imported for its bytes.
      build.onResolve({ filter }, ({ path, kind, with: { type } }) =>
        kind === 'entry-point' || type !== undefined
          ? undefined
          : { errors: [{ text: `"${path}" ${reason}` }] },
      )
    }
  },
}

/** Lets these imports stand for the moment. Those of which nothing is used are not left in the bundle. */
export const leaveUnresolved = (specifiers: readonly string[]): Plugin => ({
  name: 'leave-unresolved',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      specifiers.includes(path) ? { path, external: true, sideEffects: false } : undefined,
    )
  },
})

/** What a failed build said; anything else that was thrown is thrown again. */
export function messagesOf(error: unknown): readonly Message[] {
  if (error instanceof Error && 'errors' in error && Array.isArray(error.errors)) {
    return error.errors
  }
  throw error
}

export const problemsOf = (messages: readonly Message[]): readonly Problem[] =>
  messages.map((message) => ({ text: withPlace(message, reasonOf(message)) }))

/** Node's own modules among what could not be found. */
export const unresolvedBuiltIns = (errors: readonly Message[]): readonly string[] => [
  ...new Set(
    errors
      .map(({ text }) => UNRESOLVED.exec(text)?.[1] ?? '')
      .filter((name) => isNodeBuiltIn(name)),
  ),
]

/** Refuses those that the bundle still names, with the way that leads to each. */
export function remainingBuiltIns(
  { inputs, outputs }: Metafile,
  { errors, entry }: { readonly errors: readonly Message[]; readonly entry: string },
): readonly Problem[] {
  const written = Object.values(outputs)
  const named = new Set(written.flatMap(({ imports }) => imports.map(({ path }) => path)))
  const kept = new Set(
    written.flatMap((output) =>
      Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
        bytesInOutput > 0 ? [path] : [],
      ),
    ),
  )
  const told = new Set<string>()
  return errors.flatMap((message) => {
    const specifier = UNRESOLVED.exec(message.text)?.[1] ?? ''
    const importer = message.location?.file ?? ''
    // Once a package: its other files ask for the same.
    const key = `${specifier} ${packageOf(importer) ?? importer}`
    if (!named.has(specifier) || !kept.has(importer) || told.has(key)) return []
    told.add(key)
    const chain = chainText(chainTo(inputs, entry, importer))
    const way = packageOf(importer) === undefined ? '' : `\n  imported by ${chain}`
    return [{ text: `${withPlace(message, builtInRefusal(specifier))}${way}` }]
  })
}

function reasonOf({ text, notes, id }: Message): string {
  const specifier = UNRESOLVED.exec(text)?.[1]
  if (specifier !== undefined) return unresolved(specifier, notes)
  const file = NO_LOADER.exec(text)?.[1]
  if (file !== undefined)
    return `"${file}" is of a kind that cannot be imported: keep it in a bucket`
  return Object.hasOwn(UNFOLLOWED, id) ? (UNFOLLOWED[id] ?? text) : text
}

/** Warnings by their id: the bundler cannot know what is meant. */
const UNFOLLOWED: Readonly<Record<string, string>> = {
  'unsupported-dynamic-import':
    'import() of a name that is computed fails in site code: write the name out, or import all at the top',
  'unsupported-require-call':
    'require() of a name that is computed fails in site code: write the name out',
  'indirect-require': 'require is handed on here: what it is asked for later fails in site code',
}

/** Why an import cannot be resolved, and what to do. */
export function unresolved(specifier: string, notes: Message['notes']): string {
  if (isNodeBuiltIn(specifier)) return builtInRefusal(specifier)
  if (REMOTE.test(specifier)) return `"${specifier}" ${NOT_FETCHED}`
  if (/^[a-z]+:/.test(specifier)) {
    return `"${specifier}" is of a scheme that is not known: install the package with npm, and import it by its name`
  }
  if (/^[./]/.test(specifier)) return `"${specifier}" does not exist`
  const note = notes.find(({ text }) => !GENERIC_NOTE.test(text))
  if (note) return `"${specifier}" is not found: ${note.text.replace(/[:.]$/, '')}`
  const name = packageNameOf(specifier)
  if (name === 'croft') return '"croft" has nothing but types: write "import type"'
  return `the package "${name}" is not installed: npm install ${name}`
}

function withPlace({ location }: Message, reason: string): string {
  if (!location) return reason
  const { file, line, column, lineText } = location
  const place = `${file}:${line}:${column + 1}: ${reason}`
  const isShort = lineText.trim() !== '' && lineText.length <= MAX_LINE_LENGTH
  return isShort ? `${place}\n    ${lineText.trim()}` : place
}

/** Whether Node brings this module, with or without `node:` before its name. */
const isNodeBuiltIn = (specifier: string): boolean => isBuiltin(specifier)

/** `"node:fs" is Node's own, which site code does not have: keep files in a bucket, …` */
function builtInRefusal(specifier: string): string {
  const name = specifier.replace(/^node:/, '').split('/')[0] ?? ''
  const instead = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : 'do without it'
  const installable = specifier === name && IN_PLAIN_JAVASCRIPT.includes(name)
  const hint = installable
    ? `, or "npm install ${name}", which does the same in plain JavaScript`
    : ''
  return `"${specifier}" is Node's own, and site code has no Node: ${instead}${hint}`
}
