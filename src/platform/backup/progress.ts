const MIB = 1024 * 1024
const EVERY_MS = 2000

interface Counts {
  readonly tables: number
  readonly rows: number
  readonly rowBytes: number
  readonly objects: number
  readonly objectBytes: number
}

const NONE: Counts = { tables: 0, rows: 0, rowBytes: 0, objects: 0, objectBytes: 0 }

/** Says every two seconds how far a backup has come, and ends what it counts when that is of no use any more. */
export class BackupProgress {
  readonly #say: (line: string) => void
  readonly #lost: AbortSignal | undefined
  #counts = NONE
  #tables = 0
  #saidMs = performance.now()

  constructor(say: (line: string) => void, lost?: AbortSignal) {
    this.#say = say
    this.#lost = lost
  }

  expect({ tables }: Pick<Counts, 'tables'>): void {
    this.#tables = tables
  }

  count(more: Partial<Counts>): void {
    this.#lost?.throwIfAborted()
    const { tables, rows, rowBytes, objects, objectBytes } = this.#counts
    this.#counts = {
      tables: tables + (more.tables ?? 0),
      rows: rows + (more.rows ?? 0),
      rowBytes: rowBytes + (more.rowBytes ?? 0),
      objects: objects + (more.objects ?? 0),
      objectBytes: objectBytes + (more.objectBytes ?? 0),
    }
    if (performance.now() - this.#saidMs < EVERY_MS) return
    this.#saidMs = performance.now()
    this.#say(this.line())
  }

  line(): string {
    const { tables, rows, rowBytes, objects, objectBytes } = this.#counts
    return `${tables} of ${this.#tables} tables, ${rows} rows (${mebibytes(rowBytes)}); ${objects} objects (${mebibytes(objectBytes)})`
  }
}

const mebibytes = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`
