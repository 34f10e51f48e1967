import { SetupError } from './setup-error.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** Returns the value, or a description of what was expected. */
export type Parse<T> = (text: string) => { readonly value: T } | { readonly expected: string }

export interface Variable<T> {
  readonly name: string
  readonly parse: Parse<T>
  /** A valid value, which error messages show. */
  readonly example: string
  /** Error messages do not show the value. */
  readonly secret?: true
}

/** Reads variables one by one and keeps every fault until the end. An empty variable counts as unset. */
export class EnvReader {
  readonly #env: Env
  readonly #faults: string[] = []

  constructor(env: Env) {
    this.#env = env
  }

  withDefault<T>(variable: Variable<T>, fallback: T): T {
    return this.optional(variable) ?? fallback
  }

  optional<T>(variable: Variable<T>): T | undefined {
    const text = this.#env[variable.name]?.trim()
    if (text === undefined || text === '') return undefined
    const parsed = variable.parse(text)
    if ('value' in parsed) return parsed.value
    const given = variable.secret ? 'its value' : `"${text.slice(0, 80)}"`
    this.fault(
      `${variable.name}: ${given} is not ${parsed.expected}, as in ${variable.name}=${variable.example}`,
    )
    return undefined
  }

  fault(message: string): void {
    this.#faults.push(message)
  }

  /** Throws one error that lists everything that is wrong. */
  finish(): void {
    if (this.#faults.length === 0) return
    const count = this.#faults.length === 1 ? 'one fault' : `${this.#faults.length} faults`
    throw new SetupError(
      `The environment has ${count}:\n${this.#faults.map((fault) => `  - ${fault}`).join('\n')}`,
    )
  }
}
