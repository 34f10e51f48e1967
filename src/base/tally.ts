/** Counts by a closed list of labels. Counts only grow; exporters read them. */
export class Tally<Label extends string> {
  readonly #counts: ReadonlyMap<Label, { value: number }>

  constructor(labels: readonly Label[]) {
    this.#counts = new Map(labels.map((label) => [label, { value: 0 }]))
  }

  add(label: Label): void {
    const count = this.#counts.get(label)
    if (count !== undefined) count.value += 1
  }

  *entries(): Iterable<readonly [Label, number]> {
    for (const [label, { value }] of this.#counts) yield [label, value]
  }
}

/** Counts by two closed lists of labels. */
export class TallyTable<Row extends string, Column extends string> {
  readonly #rows: ReadonlyMap<Row, Tally<Column>>

  constructor(rows: readonly Row[], columns: readonly Column[]) {
    this.#rows = new Map(rows.map((row) => [row, new Tally(columns)]))
  }

  add(row: Row, column: Column): void {
    this.#rows.get(row)?.add(column)
  }

  *entries(): Iterable<readonly [Row, Column, number]> {
    for (const [row, tally] of this.#rows) {
      for (const [column, count] of tally.entries()) yield [row, column, count]
    }
  }
}
