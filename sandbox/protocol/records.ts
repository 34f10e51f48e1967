/**
 * How a list of records is written as one text: a head line of numbers, `67,12,5,4,65,7,1,20\n`, and then every text of
 * every record, end to end. A record's head is the character code of its kind, its numbers, and the lengths of its
 * texts in UTF-16 units. Texts are never parsed or escaped on the way, so that a payload is only ever read by the
 * isolate it is meant for.
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

type AnyShape = Shape<string, readonly number[], readonly string[]>

type Spelling<Kind extends AnyShape> = readonly [
  letter: string,
  numbers: Kind['numbers']['length'],
  texts: Kind['texts']['length'],
]

interface KindForm {
  readonly kind: string
  /** The character code of its letter. */
  readonly code: number
  readonly numbers: number
  readonly texts: number
}

/** How the kinds of a union are written. */
export class Grammar<Union extends AnyShape> {
  readonly kinds: Readonly<Record<Union['kind'], KindForm>>
  readonly #byCode: (KindForm | undefined)[] = Array.from({ length: 128 }, () => undefined)

  constructor(spellings: {
    readonly [Kind in Union['kind']]: Spelling<Extract<Union, { kind: Kind }>>
  }) {
    const forms = Object.entries<Spelling<AnyShape>>(spellings).map(
      ([kind, [letter, numbers, texts]]) => ({ kind, code: letter.charCodeAt(0), numbers, texts }),
    )
    for (const form of forms) this.#byCode[form.code] = form
    this.kinds = Object.fromEntries(forms.map((form) => [form.kind, form])) as typeof this.kinds
  }

  /** The kind whose letter has that character code. */
  formOf(code: number): KindForm {
    const form = this.#byCode[code]
    if (form) return form
    throw new Error(`A message holds the unknown kind "${String.fromCharCode(code)}"`)
  }
}

/** Collects records and joins them once. */
export class RecordWriter<Union extends AnyShape> {
  readonly #grammar: Grammar<Union>
  #head = ''
  #body = ''

  constructor(grammar: Grammar<Union>) {
    this.#grammar = grammar
  }

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
    const { code } = this.#grammar.kinds[kind]
    let head = this.#head === '' ? `${code}` : `${this.#head},${code}`
    for (const number of numbers) head += `,${number}`
    for (const text of texts) {
      head += `,${text.length}`
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
  const head = new RecordHead(text)
  const records: Union[] = []
  let textAt = head.end + 1
  while (!head.isOver) {
    const { kind, numbers: numberCount, texts: textCount } = grammar.formOf(head.next())
    const numbers: number[] = []
    const texts: string[] = []
    for (let left = numberCount; left > 0; left -= 1) numbers.push(head.next())
    for (let left = textCount; left > 0; left -= 1) {
      const end = textAt + head.next()
      texts.push(text.slice(textAt, end))
      textAt = end
    }
    records.push({ kind, numbers, texts } as unknown as Union)
  }
  if (textAt !== text.length) throw new Error('The lengths in a message do not add up')
  return records
}

const ZERO = 0x30
const COMMA = 0x2c
/** More digits may be more than a number can hold. */
const MAX_DIGITS = 15

/** Walks the numbers of a head line. Each is read in place: a parser would make an array of them first. */
export class RecordHead {
  readonly #text: string
  /** Where the line ends. */
  readonly end: number
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.end = text.indexOf('\n')
    if (this.end < 0) throw new Error('A message has no head line')
  }

  get isOver(): boolean {
    return this.#at >= this.end
  }

  next(): number {
    const text = this.#text
    const start = this.#at
    let at = start
    let value = 0
    for (; at < this.end; at += 1) {
      const code = text.charCodeAt(at)
      if (code === COMMA) break
      const digit = code - ZERO
      if (digit < 0 || digit > 9) throw malformed()
      value = value * 10 + digit
    }
    const isPadded = at - start > 1 && text.charCodeAt(start) === ZERO
    // A comma separates two numbers.
    const isDangling = at === this.end - 1
    if (at === start || at - start > MAX_DIGITS || isPadded || isDangling) throw malformed()
    this.#at = at + 1
    return value
  }
}

const malformed = (): Error => new Error('The head of a message is malformed')
