import { createHash } from 'node:crypto'

import { AppError, invalid } from '#base/app-error.ts'
import { objectSizes } from '#platform/objects/object-pages.ts'
import {
  type ByteRange,
  type ObjectStore,
  type StoredObject,
  objectKey,
} from '#platform/objects/object-store.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import { dataText, needsData } from '#platform/sandbox-host/artifact-data.ts'
import {
  SITE_DEFINITION_FILE,
  type StaticSettings,
  parseStaticSettings,
} from '#sites/static-settings.ts'

import { selectNewestActivations } from './activation-queries.ts'
import type { LiveActivation } from './live-activation.ts'
import { type ArtifactFile, checkCode, codeFilesOf, dataFilesOf, storedFiles } from './model.ts'
import { selectDeployedSite, selectDeployment, selectFileAt } from './queries.ts'

const READS_AT_ONCE = 16
/** That of a bundle as large as all code may be. */
const MAX_SOURCE_MAP_BYTES = 8 * 1024 * 1024

/** What a revision is compiled from. */
export interface CurrentDeployment {
  readonly files: readonly ArtifactFile[]
  /** That made the deployment current; null without one. */
  readonly activation: LiveActivation | null
}

/** The bytes of a site's deployments: in the object store under their hash, so that equal files are kept once. */
export class Artifacts {
  readonly #database: Database
  readonly #objects: ObjectStore

  constructor(deps: { readonly database: Database; readonly objects: ObjectStore }) {
    this.#database = deps.database
    this.#objects = deps.objects
  }

  /** Stores the stream when it is exactly what `file` says; else stores nothing and throws. */
  async put(
    siteId: string,
    file: Pick<ArtifactFile, 'sha256' | 'sizeBytes'>,
    stream: ReadableStream<Uint8Array>,
  ): Promise<void> {
    let fault: AppError | undefined
    const verified = stream.pipeThrough(verifier(file, (found) => (fault = found)))
    try {
      await this.#objects.put(artifactKey(siteId, file.sha256), verified, {
        maxBytes: file.sizeBytes,
      })
    } catch (error) {
      // The store may have wrapped what the verifier threw.
      throw fault ?? error
    }
  }

  /** Returns the sizes, by hash, of everything stored for the site. */
  stored(siteId: string): Promise<ReadonlyMap<string, number>> {
    return objectSizes(this.#objects, artifactKey(siteId, ''))
  }

  /** The stored contents, or a range of them; undefined when they are not there. */
  open(siteId: string, sha256: string, range?: ByteRange): Promise<StoredObject | undefined> {
    return this.#objects.get(artifactKey(siteId, sha256), range)
  }

  delete(siteId: string, sha256: string): Promise<void> {
    return this.#objects.delete(artifactKey(siteId, sha256))
  }

  /** The site's current deployment, with what `textsOf` reads; without files when it has none. */
  async current(tx: SiteTx): Promise<CurrentDeployment> {
    return { files: await currentFiles(tx), activation: await currentActivation(tx) }
  }

  /**
   * The source map beside a file whose name says what is in it, of any deployment. Undefined when there is none, or one of
   * more than `MAX_SOURCE_MAP_BYTES`.
   */
  async sourceMap(siteId: string, path: string): Promise<string | undefined> {
    const found = await this.#database.withSite(siteId, (tx) => selectFileAt(tx, `${path}.map`))
    const [file] = found === undefined ? [] : storedFiles([found])
    if (!file || file.sizeBytes > MAX_SOURCE_MAP_BYTES) return undefined
    return this.#text(siteId, file)
  }

  /** Reads the scripts and JSON of any deployment, and where a script may need them also its other files, as `dataText` has them. */
  async textsOf(
    siteId: string,
    all: readonly ArtifactFile[],
  ): Promise<ReadonlyMap<string, string>> {
    const definition = all.find(({ path }) => path === SITE_DEFINITION_FILE)
    if (definition) checkCode([definition])
    const settings = parseStaticSettings(definition && (await this.#text(siteId, definition)))
    const files = codeFilesOf(all, settings)
    checkCode(files)
    const texts = await this.#read(files, (file) => this.#text(siteId, file))
    if (!needsData(texts)) return texts
    const data = await this.#read(dataFilesOf(all, settings), async (file) =>
      dataText(await this.#bytes(siteId, file)),
    )
    return new Map([...texts, ...data])
  }

  /** Throws when what is code of these files is too much, as far as it is known what is code: their definition may be missing. */
  async checkCode(siteId: string, all: readonly ArtifactFile[]): Promise<void> {
    const settings = await this.#settingsOf(siteId, all)
    if (settings !== undefined) checkCode(codeFilesOf(all, settings))
  }

  /** Undefined while the definition is not there, or says nothing that can be read: its activation reports that. */
  async #settingsOf(
    siteId: string,
    all: readonly ArtifactFile[],
  ): Promise<StaticSettings | undefined> {
    const definition = all.find(({ path }) => path === SITE_DEFINITION_FILE)
    if (!definition) return parseStaticSettings(undefined)
    const object = await this.open(siteId, definition.sha256)
    try {
      return object && parseStaticSettings(await new Response(object.body).text())
    } catch (error) {
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  /** By path, in the order of the files. */
  async #read(
    files: readonly ArtifactFile[],
    one: (file: ArtifactFile) => Promise<string>,
  ): Promise<Map<string, string>> {
    const texts = new Map<string, string>()
    for (let from = 0; from < files.length; from += READS_AT_ONCE) {
      const some = files.slice(from, from + READS_AT_ONCE)
      const read = await Promise.all(some.map(one))
      some.forEach(({ path }, at) => texts.set(path, read[at] ?? ''))
    }
    return texts
  }

  async #text(siteId: string, file: ArtifactFile): Promise<string> {
    return new Response(await this.#stored(siteId, file)).text()
  }

  async #bytes(siteId: string, file: ArtifactFile): Promise<Buffer> {
    return Buffer.from(await new Response(await this.#stored(siteId, file)).arrayBuffer())
  }

  async #stored(siteId: string, { path, sha256 }: ArtifactFile): Promise<StoredObject['body']> {
    const object = await this.open(siteId, sha256)
    if (!object) throw new Error(`The stored contents of "${path}" (${sha256}) are gone`)
    return object.body
  }
}

async function currentActivation(tx: SiteTx): Promise<LiveActivation | null> {
  const [newest] = await selectNewestActivations(tx, { limit: 1 })
  if (!newest) return null
  return { number: newest.activation_number, activatedAt: newest.activated_at.toISOString() }
}

async function currentFiles(tx: SiteTx): Promise<ArtifactFile[]> {
  const site = await selectDeployedSite(tx)
  const currentId = site?.current_deployment_id ?? null
  const row = currentId === null ? undefined : await selectDeployment(tx, currentId)
  return row ? storedFiles(row.files) : []
}

export const artifactKey = (siteId: string, sha256: string): string =>
  objectKey(siteId, 'artifacts', sha256)

/** Lets the bytes through and fails at the end when they are not those that were announced. */
function verifier(
  { sha256, sizeBytes }: Pick<ArtifactFile, 'sha256' | 'sizeBytes'>,
  onFault: (fault: AppError) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const hash = createHash('sha256')
  let seen = 0
  const fail = (message: string): never => {
    const fault = invalid('body', message)
    onFault(fault)
    throw fault
  }
  return new TransformStream({
    transform(chunk, controller) {
      seen += chunk.byteLength
      if (seen > sizeBytes) fail(`is longer than the ${sizeBytes} bytes that were announced`)
      hash.update(chunk)
      controller.enqueue(chunk)
    },
    flush() {
      if (seen < sizeBytes) fail(`ends after ${seen} of the ${sizeBytes} bytes that were announced`)
      const actual = hash.digest('hex')
      if (actual !== sha256) fail(`has the sha256 ${actual}, not the announced ${sha256}`)
    },
  })
}
