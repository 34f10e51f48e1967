import { setImmediate as nextTurn } from 'node:timers/promises'

import { foldText } from './fold-text.ts'
import { runsOf, indexedWord } from './words.ts'

/** Postgres takes 1 MiB a vector; this leaves room for the ids of site and mailbox. */
const MAX_BYTES = 1_000_000
/** Postgres knows no later position in a message, and no more of one word. */
const MAX_POSITION = 16_383
const MAX_POSITIONS_OF_WORD = 256
/** What Postgres keeps of a word beside its letters. */
const BYTES_OF_WORD = 8
const BYTES_OF_POSITION = 2
const POSITIONS_OF_TURN = 4000

/** Found by `name:`. No word has a colon in it. */
export const FIELDS = { subject: 's:', from: 'f:', to: 't:', filename: 'n:' } as const
export type SearchField = keyof typeof FIELDS
/** Words of ours that say something of a message. */
export const HAS_ATTACHMENT = ':attachment'
/** Before a word of which later positions are not kept, because there are too many of it. */
export const IS_MANY = ':m:'
/** Before a word that is also where no position is known any more. */
export const IS_LATE = ':l:'

/** What a message is found by. */
export interface SearchableText {
  readonly subject: string
  readonly from: readonly string[]
  /** The people in To and Cc. */
  readonly to: readonly string[]
  readonly filenames: readonly string[]
  readonly hasAttachments: boolean
  readonly text: string
}

/** The words of messages, made in turns: a long message does not keep others waiting. */
export class MessageVectors {
  #positionsOfTurn = 0

  /** As Postgres reads a `tsvector`. What exceeds its bounds is left out from the end. */
  async vectorOf(message: SearchableText): Promise<string> {
    const vector = new Vector()
    if (message.hasAttachments) vector.say(HAS_ATTACHMENT)
    const texts: readonly (readonly [SearchField | undefined, string])[] = [
      ['subject', message.subject],
      ...message.from.map((author) => ['from', author] as const),
      ...message.to.map((person) => ['to', person] as const),
      ...message.filenames.map((filename) => ['filename', filename] as const),
      [undefined, message.text],
    ]
    for (const [field, text] of texts) {
      for (const { text: run, isUnspaced } of runsOf(foldText(text))) {
        const words = isUnspaced ? pairsOf(run) : [indexedWord(run)]
        for (const word of words) {
          if (!vector.add(word, field)) return vector.toString()
          this.#positionsOfTurn += 1
          if (this.#positionsOfTurn > POSITIONS_OF_TURN) await this.#turn()
        }
      }
      // No phrase goes from one field to another.
      vector.skip()
    }
    return vector.toString()
  }

  async #turn(): Promise<void> {
    this.#positionsOfTurn = 0
    await nextTurn()
  }
}

/** Each two characters that follow each other, and the last one: any part of the run begins with one of these. */
function* pairsOf(run: string): Generator<string> {
  let last = ''
  for (const character of run) {
    if (last !== '') yield last + character
    last = character
  }
  yield last
}

class Vector {
  readonly #positions = new Map<string, number[]>()
  #position = 1
  #bytes = 0

  say(word: string): void {
    this.#at(word)
  }

  skip(): void {
    this.#position += 1
  }

  /** False when it is full. */
  add(word: string, field: SearchField | undefined): boolean {
    this.#note(word)
    if (field !== undefined) this.#note(FIELDS[field] + word)
    this.#position += 1
    return this.#bytes < MAX_BYTES
  }

  toString(): string {
    return [...this.#positions]
      .map(([word, positions]) =>
        positions.length === 0 ? `'${word}'` : `'${word}':${positions.join(',')}`,
      )
      .join(' ')
  }

  #note(word: string): void {
    const positions = this.#at(word)
    if (this.#position > MAX_POSITION) {
      this.#at(IS_LATE + word)
      return
    }
    if (positions.length === MAX_POSITIONS_OF_WORD) {
      this.#at(IS_MANY + word)
      return
    }
    positions.push(this.#position)
    this.#bytes += BYTES_OF_POSITION
  }

  #at(word: string): number[] {
    const known = this.#positions.get(word)
    if (known) return known
    const positions: number[] = []
    this.#positions.set(word, positions)
    this.#bytes += Buffer.byteLength(word) + BYTES_OF_WORD
    return positions
  }
}
