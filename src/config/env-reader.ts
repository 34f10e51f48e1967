import { didYouMean } from '#base/did-you-mean.ts'

import { SetupError } from './setup-error.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** Returns the value, or a description of what was expected. */
export type Parse<T> = (text: string) => { readonly value: T } | { readonly expected: string }

/** Reads variables one by one and keeps every fault until the end. An empty variable counts as unset. */
export class EnvReader {
  readonly #env: Env
  readonly #names: string[] = []
  readonly #faults: string[] = []

  constructor(env: Env) {
    this.#env = env
  }

  /** `example` is a valid value, which error messages show. */
  read<T>(name: string, parse: Parse<T>, example: string): T | undefined {
    return this.#read(name, parse, { example, shown: (text) => `"${text.slice(0, 80)}"` })
  }

  /** Error messages do not show the value. */
  readSecret(name: string, parse: Parse<string>, example: string): string | undefined {
    return this.#read(name, parse, { example, shown: () => 'its value' })
  }

  fault(message: string): void {
    this.#faults.push(message)
  }

  /** Throws one error that lists everything that is wrong: first the variables with the prefix that nothing has read. */
  finish(prefix: string): void {
    const faults = [...this.#unknownNames(prefix), ...this.#faults]
    if (faults.length === 0) return
    const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
    throw new SetupError(
      `The environment has ${count}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    )
  }

  /** A misspelt name would otherwise silently mean the default. */
  #unknownNames(prefix: string): string[] {
    const unknown = Object.keys(this.#env).filter(
      (name) => name.startsWith(prefix) && !this.#names.includes(name),
    )
    return unknown.map((name) => {
      const meant = didYouMean(name, this.#names)
      return `${name}: no such variable${meant === undefined ? '' : `; did you mean ${meant}?`}`
    })
  }

  #read<T>(
    name: string,
    parse: Parse<T>,
    { example, shown }: { readonly example: string; readonly shown: (text: string) => string },
  ): T | undefined {
    this.#names.push(name)
    const text = this.#env[name]?.trim()
    if (text === undefined || text === '') return undefined
    const parsed = parse(text)
    if ('value' in parsed) return parsed.value
    this.fault(`${name}: ${shown(text)} is not ${parsed.expected}, as in ${name}=${example}`)
    return undefined
  }
}
