/** What was tried or looked at, and the result. */
export interface Finding {
  /** `postgres`, `objects`, `backup`, … */
  readonly part: string
  /** `warning`: it works, and will hurt. `problem`: it does not work, or what was acknowledged could be lost. */
  readonly level: 'ok' | 'warning' | 'problem'
  readonly says: string
  /** What to do about it; null where there is nothing to do. */
  readonly advice: string | null
}

/** What a check gives: its findings of one part. */
export class Findings {
  readonly all: Finding[] = []
  readonly #part: string

  constructor(part: string) {
    this.#part = part
  }

  ok(says: string): this {
    return this.#add('ok', says, null)
  }

  warning(says: string, advice: string): this {
    return this.#add('warning', says, advice)
  }

  problem(says: string, advice: string): this {
    return this.#add('problem', says, advice)
  }

  #add(level: Finding['level'], says: string, advice: string | null): this {
    this.all.push({ part: this.#part, level, says, advice })
    return this
  }
}

/** What made a check fail, without what it holds beside its message: a connection's URL may have a password in it. */
export const reasonOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return text.replaceAll(/\/\/[^/@\s]*@/g, '//…@').slice(0, 300)
}

export const milliseconds = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`

export const millisecondsSince = (sinceMs: number): string =>
  milliseconds(performance.now() - sinceMs)

const MIB = 2 ** 20

export const megabytes = (bytes: number): string => `${Math.round(bytes / MIB)} MB`
