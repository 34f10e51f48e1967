import { HeaderRules } from './headers-file.ts'
import type { StaticFile, StaticManifest } from './manifest.ts'
import {
  type MatchedRule,
  RedirectRules,
  redirectLocation,
  rewrittenPath,
} from './redirect-rules.ts'
import { isRedirect } from './redirects-file.ts'
import { decodeRequestPath } from './request-path.ts'
import { type PathResolution, type Route, type ServedFile, routesOf, servedFile } from './routes.ts'

const NOT_FOUND_PAGE = '404.html'

/** What is asked, as far as it matters for where it leads. */
export interface PathRequest {
  /** As it was sent, without its query. */
  readonly path: string
  /** With its `?`; empty where there is none. */
  search(): string
  /** Whether a person waits for a page: the fallback is for those. */
  acceptsHtml(): boolean
}

/** The public files of one deployment, in memory, with the assets of those before it that browsers may still ask for. */
export class StaticSite {
  /** Null for a site that has no deployment yet. */
  readonly deploymentId: string | null
  readonly headerRules: HeaderRules
  readonly #files: ReadonlyMap<string, ServedFile>
  readonly #routes: ReadonlyMap<string, Route>
  readonly #keptAssets: ReadonlyMap<string, ServedFile>
  readonly #redirects: RedirectRules
  readonly #fallback: ServedFile | undefined
  readonly #notFound: ServedFile | undefined
  /** Roughly what it keeps in memory. */
  readonly weightBytes: number

  constructor(
    deploymentId: string | null,
    manifest: StaticManifest,
    keptAssets: readonly StaticFile[],
  ) {
    const { files, redirects, headers } = manifest
    const served = new Map(files.map((file) => [file.path, servedFile(file)]))
    this.deploymentId = deploymentId
    this.headerRules = new HeaderRules(headers)
    this.#files = served
    this.#routes = routesOf(served, manifest)
    this.#keptAssets = assetsBeside(this.#routes, keptAssets)
    this.#redirects = new RedirectRules(redirects)
    this.#fallback = served.get(manifest.fallback ?? '')
    this.#notFound = served.get(NOT_FOUND_PAGE)
    const rules = redirects.length + headers.length
    this.weightBytes = 1024 + (served.size + this.#keptAssets.size) * 2048 + rules * 512
  }

  /** Undefined where nothing is. */
  resolve(request: PathRequest): PathResolution | undefined {
    const direct = this.#redirects.hasForced ? undefined : this.#direct(request.path)
    if (direct) return direct
    const path = decodeRequestPath(request.path)
    return path === undefined ? this.#nothing(request.path) : this.#resolve(path, request)
  }

  /** Whether there is a file to read, so that no other method is for this path. */
  hasFile(requestPath: string): boolean {
    const path = decodeRequestPath(requestPath)
    return path !== undefined && (this.#routes.has(path) || this.#keptAssets.has(path))
  }

  /** The common case: the exact path of a file. */
  #direct(path: string): PathResolution | undefined {
    const route = path.includes('%') ? undefined : this.#routes.get(path)
    return route?.file && route.resolution
  }

  #resolve(path: string, request: PathRequest): PathResolution | undefined {
    const route = this.#routes.get(path)
    const rule = this.#redirects.find(path, { onlyForced: route !== undefined })
    if (rule) return this.#byRule(path, rule, request)
    if (route) return withSearch(route.resolution, request)
    const kept = this.#keptAssets.get(path)
    if (kept) return { kind: 'file', file: kept, status: 200, isOwnPath: true, path }
    if (this.#fallback && isForFallback(path, request)) {
      return { kind: 'file', file: this.#fallback, status: 200, isOwnPath: false, path }
    }
    return this.#nothing(path)
  }

  #byRule(path: string, matched: MatchedRule, request: PathRequest): PathResolution | undefined {
    const { rule } = matched
    if (isRedirect(rule)) {
      const location = redirectLocation(matched, request.search())
      return { kind: 'redirect', status: rule.status, location, path }
    }
    const target = rewriteTarget(this.#routes, this.#files, rewrittenPath(matched))
    if (!target) return this.#nothing(path)
    const status = rule.status === 404 ? 404 : 200
    return { kind: 'file', file: target, status, isOwnPath: false, path }
  }

  #nothing(path: string): PathResolution | undefined {
    const file = this.#notFound
    return file && { kind: 'file', file, status: 404, isOwnPath: false, path }
  }
}

/** The file that answers for another path: named by its own path in the folder, or by its address. */
export const rewriteTarget = (
  routes: ReadonlyMap<string, Route>,
  files: ReadonlyMap<string, ServedFile>,
  to: string,
): ServedFile | undefined => routes.get(to)?.file ?? files.get(to.slice(1))

/** The latest of each name that the current deployment has not. */
function assetsBeside(
  routes: ReadonlyMap<string, Route>,
  keptAssets: readonly StaticFile[],
): ReadonlyMap<string, ServedFile> {
  const beside = new Map<string, ServedFile>()
  for (const file of keptAssets) {
    const path = `/${file.path}`
    if (!routes.has(path) && !beside.has(path)) beside.set(path, servedFile(file))
  }
  return beside
}

function withSearch(resolution: PathResolution, request: PathRequest): PathResolution {
  return resolution.kind === 'redirect'
    ? { ...resolution, location: resolution.location + request.search() }
    : resolution
}

/** A missing script or picture is a 404: a page in its place would only confuse its reader. */
const isForFallback = (path: string, request: PathRequest): boolean =>
  !path.slice(path.lastIndexOf('/')).includes('.') || request.acceptsHtml()
