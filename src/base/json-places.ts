import { placeAt, type TextPlace } from './text-place.ts'

/** Names and indexes that lead to a value. */
export type JsonPath = readonly (string | number)[]

export interface JsonSyntaxFault extends TextPlace {
  /** Repeats nothing of the text, which may hold secrets. */
  readonly message: string
}

/** Where a text is no JSON, and what is wrong there; undefined when it is. */
export function jsonSyntaxFault(text: string): JsonSyntaxFault | undefined {
  const reader = new JsonReader(text)
  const message = reader.read(() => false)
  return message === undefined ? undefined : { message, ...placeAt(text, reader.at) }
}

/** The place of the value that `path` leads to, or of the last one on the way that is there; undefined when it is no JSON. */
export function jsonPlace(text: string, path: JsonPath): TextPlace | undefined {
  const reader = new JsonReader(text)
  let best: { at: number; depth: number } | undefined
  reader.read((at, steps) => {
    if (steps.length > path.length || steps.some((step, depth) => step !== path[depth]))
      return false
    if (best === undefined || steps.length > best.depth) best = { at, depth: steps.length }
    return steps.length === path.length
  })
  return best && placeAt(text, best.at)
}

const BLANK = /[\t\n\r ]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y
const MAX_DEPTH = 1000

/** Reads JSON in linear time and without recursion. */
class JsonReader {
  readonly #text: string
  /** The names and indexes of the value that is being read. */
  readonly #steps: (string | number)[] = []
  at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Reports where each value begins, until `visit` returns true. Gives what is wrong at `at`, if anything. */
  read(visit: (at: number, steps: JsonPath) => boolean): string | undefined {
    let fault = this.#enter(visit)
    while (fault === undefined && this.#steps.length > 0) fault = this.#next(visit)
    if (fault === ENOUGH) return undefined
    if (fault !== undefined) return fault
    this.#skip()
    return this.at < this.#text.length ? 'there is more after its end' : undefined
  }

  /** Reads a value, or the start of an object or array with its first value. */
  #enter(visit: (at: number, steps: JsonPath) => boolean): string | undefined {
    for (;;) {
      this.#skip()
      if (visit(this.at, this.#steps)) return ENOUGH
      if (this.#steps.length > MAX_DEPTH) return 'it is nested too deep'
      if (this.#take('{')) {
        if (this.#take('}')) return undefined
        this.#steps.push('')
        const fault = this.#name()
        if (fault !== undefined) return fault
      } else if (this.#take('[')) {
        if (this.#take(']')) return undefined
        this.#steps.push(0)
      } else return this.#scalar()
    }
  }

  /** Goes on after a value inside of something. */
  #next(visit: (at: number, steps: JsonPath) => boolean): string | undefined {
    const step = this.#steps.at(-1)
    const close = typeof step === 'number' ? ']' : '}'
    if (this.#take(close)) {
      this.#steps.pop()
      return undefined
    }
    if (!this.#take(',')) return `a "," or "${close}" is expected`
    if (typeof step === 'number') this.#steps[this.#steps.length - 1] = step + 1
    else {
      const fault = this.#name()
      if (fault !== undefined) return fault
    }
    return this.#enter(visit)
  }

  #name(): string | undefined {
    this.#skip()
    const start = this.at
    if (this.#text.charAt(start) !== '"') return 'a name in double quotes is expected'
    const fault = this.#string()
    if (fault !== undefined) return fault
    this.#steps[this.#steps.length - 1] = String(JSON.parse(this.#text.slice(start, this.at)))
    return this.#take(':') ? undefined : 'a ":" is expected'
  }

  #scalar(): string | undefined {
    if (this.#text.charAt(this.at) === '"') return this.#string()
    return this.#match(SCALAR) ? undefined : 'a value is expected'
  }

  #string(): string | undefined {
    const start = this.at
    for (this.at += 1; this.at < this.#text.length;) {
      const code = this.#text.charCodeAt(this.at)
      if (code === 0x22) {
        this.at += 1
        return undefined
      }
      if (code < 0x20) return 'a text ends at its line: close it with a double quote'
      if (code !== 0x5c) this.at += 1
      else if (!this.#match(ESCAPE)) return 'this escape is none that JSON knows'
    }
    this.at = start
    return 'a text is not closed'
  }

  #take(character: string): boolean {
    this.#skip()
    if (this.#text.charAt(this.at) !== character) return false
    this.at += 1
    return true
  }

  #skip(): void {
    this.#match(BLANK)
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.at
    if (!pattern.test(this.#text)) return false
    this.at = pattern.lastIndex
    return true
  }
}

const ENOUGH = 'enough'
