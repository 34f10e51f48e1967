import { type Hash, createHash } from 'node:crypto'

import type { ArchivePart, PartFacts } from './archive-format.ts'

interface Running {
  entries: number
  bytes: number
  readonly hash: Hash
}

/** What the parts of an archive are, while it is written or read. */
export class PartDigests {
  readonly #parts = new Map<ArchivePart, Running>()

  begin(part: ArchivePart, name: string, sizeBytes: number): void {
    const running = this.#of(part)
    running.entries += 1
    running.bytes += sizeBytes
    running.hash.update(`${name}\n${sizeBytes}\n`)
  }

  add(part: ArchivePart, bytes: Uint8Array): void {
    this.#of(part).hash.update(bytes)
  }

  facts(): Record<string, PartFacts> {
    return Object.fromEntries(
      [...this.#parts].map(([part, { entries, bytes, hash }]) => [
        part,
        { entries, bytes, sha256: hash.copy().digest('hex') },
      ]),
    )
  }

  #of(part: ArchivePart): Running {
    const known = this.#parts.get(part)
    if (known) return known
    const running = { entries: 0, bytes: 0, hash: createHash('sha256') }
    this.#parts.set(part, running)
    return running
  }
}
