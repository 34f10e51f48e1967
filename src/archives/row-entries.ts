import { type EntryName, type ArchivePart, ROWS_ENTRY_BYTES } from './archive-format.ts'
import type { ArchiveEntry } from './archive-writer.ts'
import type { TemporaryFile } from './temporary-file.ts'

interface Span {
  readonly name: EntryName
  readonly start: number
  readonly end: number
}

/**
 * Entries of rows, written to the disk while the snapshot that they come from is open: nobody who reads slowly keeps the
 * database from cleaning up.
 */
export class RowEntries implements AsyncDisposable {
  readonly #file: TemporaryFile
  readonly #spans: Span[] = []
  readonly #numbers = new Map<ArchivePart, number>()
  readonly #counts: Record<string, number> = {}

  constructor(file: TemporaryFile) {
    this.#file = file
  }

  /** How many rows were added, by what they are rows of. */
  get counts(): Readonly<Record<string, number>> {
    return this.#counts
  }

  /** Each entry begins with a line that says what its rows are. */
  async add(
    { part, of, head }: { readonly part: ArchivePart; readonly of: string; readonly head: object },
    batches: AsyncIterable<readonly string[]>,
  ): Promise<void> {
    const headLine = JSON.stringify(head)
    let lines: string[] = []
    let length = 0
    const write = async () => {
      if (lines.length > 0) await this.#write(part, `${headLine}\n${lines.join('\n')}\n`)
      lines = []
      length = 0
    }
    for await (const batch of batches) {
      this.#counts[of] = (this.#counts[of] ?? 0) + batch.length
      for (const line of batch) {
        if (length + line.length > ROWS_ENTRY_BYTES) await write()
        lines.push(line)
        length += line.length
      }
    }
    await write()
  }

  /** Those of one part, in the order in which they were added. */
  *entries(part: ArchivePart): Generator<ArchiveEntry, void, undefined> {
    for (const { name, start, end } of this.#spans) {
      if (name.part !== part) continue
      yield { name, sizeBytes: end - start, body: this.#file.read(start, end) }
    }
  }

  async #write(part: ArchivePart, text: string): Promise<void> {
    const start = this.#file.sizeBytes
    await this.#file.append(Buffer.from(text))
    const number = 1 + (this.#numbers.get(part) ?? 0)
    this.#numbers.set(part, number)
    this.#spans.push({ name: { part, number, kind: 'rows' }, start, end: this.#file.sizeBytes })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]()
  }
}
