import { indexOf, jsonParse, slice } from '#sandbox/guest/web/primordials.ts'

import { ANSWER, CALL } from './record-kinds.ts'

/** Walks the records of one section, one at a time; their texts are read in order. The host wrote it: it is well formed. */
export class SectionReader {
  readonly #text: string
  readonly #head: readonly number[]
  #at = 0
  #textAt: number
  kind = 0
  first = 0
  second = 0
  /** Records that `next` has stepped to. */
  begun = 0

  constructor(text: string) {
    const headEnd = indexOf(text, '\n')
    this.#text = text
    this.#head = jsonParse(`[${slice(text, 0, headEnd)}]`) as number[]
    this.#textAt = headEnd + 1
  }

  next(): boolean {
    if (this.#at >= this.#head.length) return false
    this.kind = this.#number()
    this.first = this.#number()
    this.second = this.kind === ANSWER || this.kind === CALL ? this.#number() : 0
    this.begun += 1
    return true
  }

  /** The next text of the record. */
  text(): string {
    const from = this.#textAt
    this.#textAt = from + this.#number()
    return slice(this.#text, from, this.#textAt)
  }

  #number(): number {
    this.#at += 1
    return this.#head[this.#at - 1] as number
  }
}
