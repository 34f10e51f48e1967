/**
 * How a list of records is written as one text: `C12 5 4;A7 1 20\n` and then every text of every record, end to end.
 * A record's head is its kind (one letter), its numbers, and the lengths of its texts in UTF-16 units. Texts are never
 * parsed or escaped on the way, so that a payload is only ever read by the isolate it is meant for.
 */
export interface Shape<
  Kind extends string,
  Numbers extends readonly number[],
  Texts extends readonly string[],
> {
  readonly kind: Kind
  readonly numbers: Numbers
  readonly texts: Texts
}

/** How many numbers and texts each kind of a union has. */
export type Grammar<Union extends Shape<string, readonly number[], readonly string[]>> = {
  readonly [Kind in Union['kind']]: readonly [
    numbers: Extract<Union, { kind: Kind }>['numbers']['length'],
    texts: Extract<Union, { kind: Kind }>['texts']['length'],
  ]
}

type AnyShape = Shape<string, readonly number[], readonly string[]>

/** Collects records and joins them once. */
export class RecordWriter<Union extends AnyShape> {
  #head = ''
  #body = ''

  get empty(): boolean {
    return this.#head === ''
  }

  /** In UTF-16 units, head lines not counted. */
  get length(): number {
    return this.#body.length
  }

  add<Kind extends Union['kind']>(
    kind: Kind,
    numbers: Extract<Union, { kind: Kind }>['numbers'],
    texts: Extract<Union, { kind: Kind }>['texts'],
  ): void {
    let head = this.#head === '' ? kind : `${this.#head};${kind}`
    let first = true
    for (const number of numbers) {
      head += first ? number : ` ${number}`
      first = false
    }
    for (const text of texts) {
      head += first ? text.length : ` ${text.length}`
      first = false
      this.#body += text
    }
    this.#head = head
  }

  /** Everything added since the last call. */
  take(): string {
    const text = `${this.#head}\n${this.#body}`
    this.#head = ''
    this.#body = ''
    return text
  }
}

/** Reads what `RecordWriter` wrote. Throws on anything else: a length that lies, a kind that the grammar lacks. */
export function readRecords<Union extends AnyShape>(
  text: string,
  grammar: Grammar<Union>,
): Union[] {
  const headEnd = text.indexOf('\n')
  if (headEnd < 0) throw new Error('A message has no head line')
  if (headEnd === 0) return []
  const records: Union[] = []
  let at = headEnd + 1
  for (const head of text.slice(0, headEnd).split(';')) {
    const record = readHead(head, grammar as Readonly<Record<string, readonly [number, number]>>)
    const texts: string[] = []
    for (const length of record.lengths) {
      texts.push(text.slice(at, at + length))
      at += length
    }
    records.push({ kind: record.kind, numbers: record.numbers, texts } as unknown as Union)
  }
  if (at !== text.length) throw new Error('The lengths in a message do not add up')
  return records
}

function readHead(head: string, grammar: Readonly<Record<string, readonly [number, number]>>) {
  const kind = head.charAt(0)
  const shape = Object.hasOwn(grammar, kind) ? grammar[kind] : undefined
  if (!shape) throw new Error(`A message holds a record of the unknown kind "${kind}"`)
  const fields = head.length === 1 ? [] : head.slice(1).split(' ')
  if (fields.length !== shape[0] + shape[1]) throw new Error(`A record "${kind}" lacks fields`)
  const values = fields.map(Number)
  for (const value of values) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Error(`A record "${kind}" is malformed`)
  }
  return { kind, numbers: values.slice(0, shape[0]), lengths: values.slice(shape[0]) }
}
