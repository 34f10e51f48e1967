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
  const headEnd = text.indexOf('\n')
  if (headEnd < 0) throw new Error('A message has no head line')
  const head = JSON.parse(`[${text.slice(0, headEnd)}]`) as unknown[]
  const records: Union[] = []
  let at = 0
  let textAt = headEnd + 1
  while (at < head.length) {
    const { kind, numbers: numberCount, texts: textCount } = grammar.formOf(count(head[at]))
    const numbers: number[] = []
    const texts: string[] = []
    for (let step = 1; step <= numberCount; step += 1) numbers.push(count(head[at + step]))
    at += 1 + numberCount
    for (let step = 0; step < textCount; step += 1) {
      const end = textAt + count(head[at + step])
      texts.push(text.slice(textAt, end))
      textAt = end
    }
    at += textCount
    records.push({ kind, numbers, texts } as unknown as Union)
  }
  if (textAt !== text.length) throw new Error('The lengths in a message do not add up')
  return records
}

function count(value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  throw new Error('The head of a message is malformed')
}
