import { AppError } from '#base/app-error.ts'
import { isCompressible } from '#base/content-type.ts'
import { isJsonObject } from '#base/json-object.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Artifacts } from '#sites/deployments/artifacts.ts'
import type { CompleteDeployment } from '#sites/deployments/deployment-lifecycle.ts'
import type { ArtifactFile } from '#sites/deployments/model.ts'
import {
  SITE_DEFINITION_FILE,
  type StaticSettings,
  parseStaticSettings,
  isPublicFile,
} from '#sites/static-settings.ts'

import type { EncodedFiles } from './encoded-files.ts'
import { isFingerprinted } from './fingerprint.ts'
import { parseHeaderRules, HEADERS_FILE } from './headers-file.ts'
import { MANIFEST_FORMAT, type StaticFile, type StaticManifest } from './manifest.ts'
import { selectEncodedFiles } from './queries.ts'
import { REDIRECTS_FILE, type RedirectRule, isRedirect, parseRedirects } from './redirects-file.ts'
import { isHiddenPath } from './request-path.ts'
import { isReservedPath } from './reserved-paths.ts'
import { routesOf, servedFile } from './routes.ts'
import { MAX_RULES_FILE_BYTES, ruleFault } from './rules-file.ts'
import { rewriteTarget } from './static-site.ts'

type Encodings = ReadonlyMap<string, StaticFile['encodings']>

/** What an artifact has in its public folder. */
interface PublicFiles {
  /** Paths are inside the folder, in Unicode's form C. */
  readonly files: readonly ArtifactFile[]
  /** The two files that are rules and never served. */
  readonly redirects: ArtifactFile | undefined
  readonly headers: ArtifactFile | undefined
}

/** Makes of an artifact what serving its public files needs, before anything of it is served. */
export class ManifestBuilder {
  readonly #deps

  constructor(deps: {
    readonly database: Database
    readonly artifacts: Pick<Artifacts, 'open'>
    readonly encodedFiles: EncodedFiles
  }) {
    this.#deps = deps
  }

  /** Undefined for an artifact without public files. Throws `InvalidArtifact` that names what is wrong, and where. */
  async build(deployment: CompleteDeployment): Promise<StaticManifest | undefined> {
    const { siteId, codeFiles } = deployment
    const settings = parseStaticSettings(codeFiles.get(SITE_DEFINITION_FILE))
    checkFunctions(codeFiles.get(SITE_DEFINITION_FILE), settings)
    const { files, ...rules } = publicFilesOf(deployment.files, settings)
    if (files.length === 0 && !rules.redirects) return undefined
    const redirects = await this.#rules(siteId, rules.redirects, parseRedirects)
    const headers = await this.#rules(siteId, rules.headers, parseHeaderRules)
    // What is written wrong is refused before anything is compressed.
    checkRewrites(files, redirects, settings)
    const encodings = await this.#encodings(siteId, files)
    return {
      format: MANIFEST_FORMAT,
      cleanUrls: settings.cleanUrls,
      fallback: settings.fallback?.slice(1) ?? null,
      files: files.map((file) => staticFile(file, encodings)),
      redirects,
      headers,
    }
  }

  async #rules<Rule>(
    siteId: string,
    file: ArtifactFile | undefined,
    parse: (text: string) => Rule[],
  ): Promise<Rule[]> {
    if (!file) return []
    if (file.sizeBytes > MAX_RULES_FILE_BYTES) {
      throw new AppError(
        'InvalidArtifact',
        `${file.path} has ${file.sizeBytes} bytes: ${MAX_RULES_FILE_BYTES} are allowed`,
      )
    }
    const stored = await this.#deps.artifacts.open(siteId, file.sha256)
    if (!stored) throw new Error(`The stored contents of "${file.path}" are gone`)
    return parse(await new Response(stored.body).text())
  }

  /** What earlier deployments have found out is not done again. */
  async #encodings(siteId: string, files: readonly ArtifactFile[]): Promise<Encodings> {
    const { database, encodedFiles } = this.#deps
    const known = await database.withSite(siteId, selectEncodedFiles)
    const encodings = new Map(known.map(({ sha256, encodings: found }) => [sha256, found]))
    const unknown = files.filter(
      ({ path, sha256 }) => isCompressible(path) && !encodings.has(sha256),
    )
    for (const [sha256, found] of await encodedFiles.encode(siteId, unknown)) {
      encodings.set(sha256, found)
    }
    return encodings
  }
}

const staticFile = (
  { path, sha256, sizeBytes }: ArtifactFile,
  encodings: Encodings,
): StaticFile => ({
  path,
  sha256,
  sizeBytes,
  immutable: isFingerprinted(path),
  encodings: isCompressible(path) ? (encodings.get(sha256) ?? null) : {},
})

/** A rule that answers with a file needs that file, where it names it in full. */
function checkRewrites(
  files: readonly ArtifactFile[],
  redirects: readonly RedirectRule[],
  settings: StaticSettings,
): void {
  const served = new Map(files.map((file) => [file.path, servedFile(staticFile(file, new Map()))]))
  const routes = routesOf(served, settings)
  for (const rule of redirects) {
    const isOpen = isRedirect(rule) || /:[A-Za-z]/.test(rule.to)
    if (isOpen || rewriteTarget(routes, served, rule.to)) continue
    throw ruleFault(
      REDIRECTS_FILE,
      rule.line,
      `"${rule.to}" is no page of the site: status ${rule.status} answers with a file of "${settings.directory}"`,
    )
  }
}

/** Refuses, by name, a function whose code is public: what is public is no code of functions. */
function checkFunctions(croftJson: string | undefined, settings: StaticSettings): void {
  const exposed = artifactsIn(croftJson).find((path) => isPublicFile(path, settings))
  if (exposed === undefined) return
  throw new AppError(
    'InvalidArtifact',
    `${SITE_DEFINITION_FILE}: the function "${exposed}" is in "${settings.directory}", which is public: move it out of there`,
  )
}

/** Other mistakes in the definition are refused by its reader. */
function artifactsIn(croftJson: string | undefined): string[] {
  const resources = resourcesIn(croftJson)
  return resources.flatMap((resource) => {
    const config = isJsonObject(resource) ? resource['config'] : undefined
    const artifact = isJsonObject(config) ? config['artifact'] : undefined
    return typeof artifact === 'string' ? [artifact.replace(/^(?:\.\/+)+/, '')] : []
  })
}

function resourcesIn(croftJson: string | undefined): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(croftJson ?? '{}')
    const resources = isJsonObject(value) ? value['resources'] : undefined
    return Array.isArray(resources) ? resources : []
  } catch {
    return []
  }
}

/** Leaves out hidden files. Throws `InvalidArtifact` for files that could never be reached. */
function publicFilesOf(artifact: readonly ArtifactFile[], settings: StaticSettings): PublicFiles {
  const { directory } = settings
  const inside = artifact
    .filter(({ path }) => isPublicFile(path, settings))
    .map((file) => ({ ...file, path: file.path.slice(directory.length + 1).normalize('NFC') }))
  const named = (name: string) => inside.find(({ path }) => path === name)
  const rules = [REDIRECTS_FILE, HEADERS_FILE]
  const files = inside.filter(({ path }) => !rules.includes(path) && !isHiddenPath(path))
  checkReachable(files, settings)
  if (settings.isNamed && inside.length === 0) {
    throw new AppError(
      'InvalidArtifact',
      `croft.json: static.directory "${directory}" has no files: build the site first, or name another folder`,
    )
  }
  checkFallback(files, settings)
  return { files, redirects: named(REDIRECTS_FILE), headers: named(HEADERS_FILE) }
}

function checkReachable(files: readonly ArtifactFile[], settings: StaticSettings): void {
  const { directory, cleanUrls } = settings
  const paths = new Set<string>()
  for (const { path } of files) {
    const clean = cleanUrls ? path.replace(/\.html$/, '') : path
    const reserved = [path, clean].find((each) => isReservedPath(`/${each}`))
    if (reserved !== undefined) {
      throw new AppError(
        'InvalidArtifact',
        `"${directory}/${path}" would be at "/${reserved}", which is a path of the service itself: give it another name`,
      )
    }
    if (paths.has(path)) {
      throw new AppError(
        'InvalidArtifact',
        `"${directory}/${path}" is there twice, in two spellings of the same letters: keep one`,
      )
    }
    paths.add(path)
  }
}

function checkFallback(files: readonly ArtifactFile[], settings: StaticSettings): void {
  const { directory, fallback } = settings
  if (fallback === null || files.some(({ path }) => `/${path}` === fallback)) return
  throw new AppError(
    'InvalidArtifact',
    `croft.json: static.spa is "${fallback}", but there is no file "${directory}${fallback}"`,
  )
}
