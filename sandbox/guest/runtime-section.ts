import { charCodeAt, indexOf, slice } from './runtime-primordials.ts'

const SEMICOLON = 59
const SPACE = 32
const ZERO = 48

/** Walks the records of one section, one at a time; their texts are read in order. The host wrote it: it is well formed. */
export class SectionReader {
  readonly #text: string
  readonly #headEnd: number
  #at = 0
  #bodyAt: number
  kind: 'C' | 'A' | 'D' = 'D'
  first = 0
  second = 0
  /** Records that `next` has stepped to. */
  begun = 0

  constructor(text: string) {
    this.#text = text
    this.#headEnd = indexOf(text, '\n')
    this.#bodyAt = this.#headEnd + 1
  }

  next(): boolean {
    if (this.#at >= this.#headEnd) return false
    this.kind = slice(this.#text, this.#at, this.#at + 1) as 'C' | 'A' | 'D'
    this.#at += 1
    this.first = this.#number()
    this.second = this.kind === 'A' ? this.#number() : 0
    this.begun += 1
    return true
  }

  /** The next text of the record. */
  text(): string {
    const from = this.#bodyAt
    this.#bodyAt = from + this.#number()
    return slice(this.#text, from, this.#bodyAt)
  }

  #number(): number {
    let value = 0
    while (this.#at < this.#headEnd) {
      const code = charCodeAt(this.#text, this.#at)
      this.#at += 1
      if (code === SPACE || code === SEMICOLON) break
      value = value * 10 + code - ZERO
    }
    return value
  }
}
