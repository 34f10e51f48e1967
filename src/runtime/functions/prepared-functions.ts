import { createHash } from 'node:crypto'

import { LoadingCache } from '#base/loading-cache.ts'
import type { FunctionSource, PreparedFunction, Sandbox } from '#platform/sandbox-host/sandbox.ts'

const MAX_BYTES = 64 * 1024 * 1024

/**
 * Remembers what a source was prepared to: most of a site's functions are the same from one revision to the next. A source is
 * known by its entry and every file it might import, so any change of the artifact prepares its functions again.
 */
export class PreparedFunctionCache {
  readonly #sandbox: Pick<Sandbox, 'prepare'>
  readonly #prepared = new LoadingCache<string, PreparedFunction>({
    entries: { maxSize: MAX_BYTES, sizeCalculation: sizeOf },
  })
  readonly #digests = new WeakMap<ReadonlyMap<string, string>, string>()

  constructor(sandbox: Pick<Sandbox, 'prepare'>) {
    this.#sandbox = sandbox
  }

  async prepare(siteId: string, source: FunctionSource): Promise<PreparedFunction> {
    const key = `${this.#digest(source.files)} ${source.entry}`
    return this.#prepared.get(key, () => this.#sandbox.prepare(siteId, source))
  }

  #digest(files: ReadonlyMap<string, string>): string {
    const known = this.#digests.get(files)
    if (known !== undefined) return known
    const hash = createHash('sha256')
    for (const [path, text] of files)
      hash.update(`${path.length} ${text.length} `).update(path).update(text)
    const digest = hash.digest('base64url')
    this.#digests.set(files, digest)
    return digest
  }
}

const sizeOf = (prepared: PreparedFunction): number =>
  prepared.ok
    ? prepared.modules.reduce((sum, { code, map = '' }) => sum + code.length + map.length, 256)
    : 256
