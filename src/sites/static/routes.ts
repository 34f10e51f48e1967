import { contentTypeOf } from '#base/content-type.ts'

import { ENCODINGS, type Encoding, type StaticFile } from './manifest.ts'
import { encodeRequestPath } from './request-path.ts'

const MOVED = 308

/** A file as it goes out. */
export interface ServedFile {
  readonly path: string
  readonly contentType: string
  readonly immutable: boolean
  /** The shortest first; the file itself is last. */
  readonly representations: readonly Representation[]
}

/** One form of a file. */
export interface Representation {
  /** Undefined for the file as it is. */
  readonly encoding: Encoding | undefined
  /** Strong, and another one for each form, quoted as in HTTP. */
  readonly etag: string
  readonly sizeBytes: number
  readonly sha256: string
  /** Where it begins in the encoded object. */
  readonly offset: number
  /** Names its bytes among those of the site. */
  readonly key: string
}

/** What a path of a site leads to. */
export type PathResolution =
  | {
      readonly kind: 'file'
      readonly file: ServedFile
      readonly status: 200 | 404
      /** Whether this is the file's own address, under which it may be kept for as long as its name allows. */
      readonly isOwnPath: boolean
      /** Decoded; the rules of `_headers` match it. */
      readonly path: string
    }
  | {
      readonly kind: 'redirect'
      readonly status: number
      readonly location: string
      readonly path: string
    }

/** What one path leads to, without rules. */
export interface Route {
  readonly resolution: PathResolution
  /** Undefined for a redirect. */
  readonly file: ServedFile | undefined
}

export function servedFile(file: StaticFile): ServedFile {
  const encoded = ENCODINGS.flatMap((encoding) => {
    const part = file.encodings?.[encoding]
    return part ? [representation(file, encoding, part)] : []
  })
  return {
    path: file.path,
    contentType: contentTypeOf(file.path),
    immutable: file.immutable,
    representations: [
      ...encoded.toSorted((a, b) => a.sizeBytes - b.sizeBytes),
      representation(file, undefined, [0, file.sizeBytes]),
    ],
  }
}

/**
 * Every path that leads to a file, decoded: its own, and those that are sent on to it. `about.html` is at `/about`,
 * `docs/index.html` at `/docs/`, so that relative links in both mean the same as in the folder.
 */
export function routesOf(
  files: ReadonlyMap<string, ServedFile>,
  { cleanUrls }: { readonly cleanUrls: boolean },
): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>()
  for (const [path, file] of files) routes.set(`/${path}`, fileRoute(`/${path}`, file))
  for (const [path, file] of files) {
    if (cleanUrls) addCleanPage(routes, path, file)
  }
  for (const [path, file] of files) addIndex(routes, { path, file, cleanUrls })
  if (cleanUrls) for (const path of files.keys()) addSlash(routes, path)
  return routes
}

function addCleanPage(routes: Map<string, Route>, path: string, file: ServedFile): void {
  const clean = `/${path.slice(0, -'.html'.length)}`
  if (!path.endsWith('.html') || isIndex(path) || routes.has(clean)) return
  routes.set(clean, fileRoute(clean, file, path === '404.html' ? 404 : 200))
  routes.set(`/${path}`, redirectRoute(`/${path}`, clean))
}

function addIndex(
  routes: Map<string, Route>,
  { path, file, cleanUrls }: { path: string; file: ServedFile; cleanUrls: boolean },
): void {
  if (!isIndex(path)) return
  const folder = `/${path.slice(0, -'index.html'.length)}`
  routes.set(folder, fileRoute(folder, file))
  if (cleanUrls) {
    for (const alias of [`/${path}`, `${folder}index`]) {
      if (alias === `/${path}` || !routes.has(alias))
        routes.set(alias, redirectRoute(alias, folder))
    }
  }
  const bare = folder.slice(0, -1)
  if (bare !== '' && !routes.has(bare)) routes.set(bare, redirectRoute(bare, folder))
}

/** `/about/` of `about.html`, where no folder has that address. */
function addSlash(routes: Map<string, Route>, path: string): void {
  if (!path.endsWith('.html') || isIndex(path)) return
  const clean = `/${path.slice(0, -'.html'.length)}`
  const isPage = routes.get(clean)?.file?.path === path
  if (isPage && !routes.has(`${clean}/`)) routes.set(`${clean}/`, redirectRoute(`${clean}/`, clean))
}

const isIndex = (path: string): boolean => path === 'index.html' || path.endsWith('/index.html')

const fileRoute = (path: string, file: ServedFile, status: 200 | 404 = 200): Route => ({
  file,
  resolution: { kind: 'file', file, status, isOwnPath: true, path },
})

const redirectRoute = (path: string, to: string): Route => ({
  file: undefined,
  resolution: { kind: 'redirect', status: MOVED, location: encodeRequestPath(to), path },
})

function representation(
  { sha256 }: StaticFile,
  encoding: Encoding | undefined,
  [offset, sizeBytes]: readonly [number, number],
): Representation {
  const suffix = encoding === undefined ? '' : `-${encoding}`
  return {
    encoding,
    etag: `"${sha256.slice(0, 32)}${suffix}"`,
    sizeBytes,
    sha256,
    offset,
    key: sha256 + suffix,
  }
}
