import { type ParseArgsConfig, parseArgs } from 'node:util'

import { UsageError } from './faults.ts'
import type { ServiceClient } from './service-client.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** One thing that `croft` does. */
export interface Command {
  /** As it is typed: `site create`. */
  readonly name: string
  readonly summary: string
  /** What follows the name, for the help text. */
  readonly usage: string
  readonly options: Options
  /** How many words may follow the name. */
  readonly maxPositionals?: number
  run(call: Invocation): Promise<Outcome>
}

export interface Outcome {
  /** What `--json` prints. */
  readonly json: unknown
  /** What people read. */
  readonly text: string
  /** The work was done and what it found is bad: exit code 1. */
  readonly failed?: boolean
}

/** What a command is given. */
export interface Invocation {
  readonly args: Arguments
  readonly service: ServiceClient
  /** A line on stderr, so that stdout stays the answer. */
  progress(line: string): void
}

const COMMON: Options = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  url: { type: 'string' },
  'operator-key': { type: 'string' },
}

/** The words and options of one call, typed on the way out. */
export class Arguments {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #positionals: readonly string[]

  constructor(values: Readonly<Record<string, unknown>>, positionals: readonly string[]) {
    this.#values = values
    this.#positionals = positionals
  }

  text(option: string): string | undefined {
    const value = this.#values[option]
    if (value === '') throw new UsageError(`--${option} is empty`)
    return typeof value === 'string' ? value : undefined
  }

  required(option: string): string {
    const value = this.text(option)
    if (value === undefined) throw new UsageError(`--${option} is missing`)
    return value
  }

  flag(option: string): boolean {
    return this.#values[option] === true
  }

  list(option: string): readonly string[] | undefined {
    const value = this.#values[option]
    return Array.isArray(value) ? value.map(String) : undefined
  }

  word(index: number, name: string): string {
    const word = this.#positionals[index]
    if (word === undefined || word === '') throw new UsageError(`${name} is missing`)
    return word
  }
}

/** Throws `UsageError` for what the command does not know. */
export function parseArguments(command: Command, argv: readonly string[]): Arguments {
  const options = { ...COMMON, ...command.options }
  const { values, positionals } = parse(argv, options)
  const extra = positionals[command.maxPositionals ?? 0]
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`)
  return new Arguments(values, positionals)
}

function parse(argv: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    // Node's first sentence names the option; the others explain its own syntax.
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(message.split(/\. |\n/, 1)[0] ?? message)
  }
}
