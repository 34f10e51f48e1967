import type { HeaderRule } from './headers-file.ts'
import type { RedirectRule } from './redirects-file.ts'

/** Bumped when the shape changes; the next deployment rewrites a manifest in another format. */
export const MANIFEST_FORMAT = 1

/** In the order in which they are stored one behind the other. */
export const ENCODINGS = ['br', 'zstd', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** Where in the encoded object a representation is: its first byte and its length. */
export type EncodedPart = readonly [offset: number, length: number]

/** A file as it is served. */
export interface StaticFile {
  /** Inside the public folder, in Unicode's form C. */
  readonly path: string
  readonly sha256: string
  readonly sizeBytes: number
  /** Whether its name carries a hash of its content. */
  readonly immutable: boolean
  /** Those that are smaller than the file; null where compression was not tried. */
  readonly encodings: Readonly<Partial<Record<Encoding, EncodedPart>>> | null
}

/** Everything that serving a deployment's files needs. Written once, never changed. */
export interface StaticManifest {
  readonly format: typeof MANIFEST_FORMAT
  readonly cleanUrls: boolean
  /** The path inside the public folder of what answers where there is no file. */
  readonly fallback: string | null
  readonly files: readonly StaticFile[]
  readonly redirects: readonly RedirectRule[]
  readonly headers: readonly HeaderRule[]
}

/** Of a site without public files. */
export const NO_FILES: StaticManifest = {
  format: MANIFEST_FORMAT,
  cleanUrls: true,
  fallback: null,
  files: [],
  redirects: [],
  headers: [],
}

/** Reads a manifest back from its column; undefined when another version of the service wrote it. */
export function parseManifest(value: unknown): StaticManifest | undefined {
  const known =
    typeof value === 'object' &&
    value !== null &&
    'format' in value &&
    value.format === MANIFEST_FORMAT
  return known ? (value as StaticManifest) : undefined
}

/** Reads files back that were cut out of a manifest of the current format. */
export const storedStaticFiles = (value: unknown): readonly StaticFile[] =>
  Array.isArray(value) ? (value as StaticFile[]) : []
