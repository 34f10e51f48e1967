import type { BuildOptions, build } from 'esbuild'

/** The bundler, loaded with the first function that needs it. */
export interface Esbuild {
  readonly build: typeof build
}

/** Files that a function may import as text once it is bundled. */
const TEXT_EXTENSIONS = ['.txt', '.html', '.md', '.sql', '.hbs', '.graphql', '.svg'] as const

/** As the service resolves them, with what only a bundler reads at the end. */
const RESOLVED_EXTENSIONS = '.ts .js .mts .mjs .cts .cjs .json .tsx .jsx'.split(' ')

/** How a function is read, whatever becomes of it. */
export const READING = {
  bundle: true,
  write: false,
  metafile: true,
  // What packages offer to browsers and workers knows no Node: also where it replaces files by others.
  platform: 'browser',
  conditions: ['worker'],
  // The V8 of the sandbox's Node.
  target: 'node24',
  resolveExtensions: RESOLVED_EXTENSIONS,
  loader: Object.fromEntries(TEXT_EXTENSIONS.map((extension) => [extension, 'text'])),
  define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
  // One wide character would make V8 keep two bytes for each of the bundle.
  charset: 'ascii',
  logLevel: 'silent',
} as const satisfies BuildOptions

/** What only a bundler finds: packages and aliases, and files that are imported as text. */
export const NEEDS_BUNDLER = new RegExp(
  `^[^./]|(?:${TEXT_EXTENSIONS.join('|').replaceAll('.', '\\.')})$`,
)

/** Ends the process that esbuild keeps beside this one. */
export async function withEsbuild<Result>(
  use: (esbuild: Esbuild) => Promise<Result>,
): Promise<Result> {
  const { build, stop } = await import('esbuild')
  try {
    return await use({ build })
  } finally {
    await stop()
  }
}
