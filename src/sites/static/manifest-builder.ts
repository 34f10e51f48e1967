import { AppError } from '#base/app-error.ts'
import { isCompressible } from '#base/content-type.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Artifacts } from '#sites/deployments/artifacts.ts'
import type { CompleteDeployment } from '#sites/deployments/deployment-lifecycle.ts'
import type { ArtifactFile } from '#sites/deployments/model.ts'
import {
  SITE_DEFINITION_FILE,
  type StaticSettings,
  parseStaticSettings,
} from '#sites/static-settings.ts'

import type { EncodedFiles } from './encoded-files.ts'
import { isFingerprinted } from './fingerprint.ts'
import { checkFunctions } from './function-artifacts.ts'
import { parseHeaderRules } from './headers-file.ts'
import { MANIFEST_FORMAT, type StaticFile, type StaticManifest } from './manifest.ts'
import { publicFilesOf } from './public-files.ts'
import { selectEncodedFiles } from './queries.ts'
import { REDIRECTS_FILE, type RedirectRule, isRedirect, parseRedirects } from './redirects-file.ts'
import { routesOf, servedFile } from './routes.ts'
import { MAX_RULES_FILE_BYTES, ruleFault } from './rules-file.ts'
import { rewriteTarget } from './static-site.ts'

type Encodings = ReadonlyMap<string, StaticFile['encodings']>

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
