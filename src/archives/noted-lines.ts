import type { TemporaryFile } from './temporary-file.ts'

const AT_ONCE = 500

/** Values that are noted on the disk, and read again some at a time. */
export class NotedLines<Value> {
  readonly #file: TemporaryFile
  readonly #spans: (readonly [start: number, end: number])[] = []
  #waiting: Value[] = []

  constructor(file: TemporaryFile) {
    this.#file = file
  }

  async add(value: Value): Promise<void> {
    this.#waiting.push(value)
    if (this.#waiting.length >= AT_ONCE) await this.flush()
  }

  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    const start = this.#file.sizeBytes
    await this.#file.append(Buffer.from(JSON.stringify(this.#waiting)))
    this.#spans.push([start, this.#file.sizeBytes])
    this.#waiting = []
  }

  async *batches(): AsyncGenerator<readonly Value[], void, undefined> {
    for (const [start, end] of this.#spans) {
      const text = Buffer.concat(await Array.fromAsync(this.#file.read(start, end))).toString()
      // Only `flush` writes them.
      yield JSON.parse(text) as Value[]
    }
  }
}
