import { InvalidArgumentError, Option } from 'commander'

import { UsageError } from './errors.ts'
import type { ServiceClient } from './service-client.ts'

/** What a word of a command names. */
export type CommandWord =
  | 'DOMAIN'
  | 'ADDRESS'
  | 'MESSAGE'
  | 'FILE'
  | 'DEPLOYMENT_ID'
  | '[DEPLOYMENT_ID]'

/** One thing that `croft` does. */
export interface CliCommand {
  /** As it is typed: `site create`. */
  readonly name: string
  readonly summary: string
  /** The words that follow the name; in brackets when one may be left out. */
  readonly words?: readonly CommandWord[]
  readonly options: readonly Option[]
  /** Whether it also works with a deploy token of its site, instead of the operator key. */
  readonly deployToken?: true
  /** Whether it is meant when the last word of its name is left out. */
  readonly isDefault?: true
  run(call: Invocation): Promise<CommandResult | CommandBytes>
}

export interface CommandResult {
  /** What `--json` prints. */
  readonly json: unknown
  /** What people read. */
  readonly text: string
  /** The work was done and what it found is bad: exit code 1. */
  readonly failed?: boolean
}

/** A result that is nothing but bytes: they go to stdout as they come. */
interface CommandBytes {
  readonly bytes: AsyncIterable<Uint8Array>
}

/** What a command is given. */
export interface Invocation {
  readonly args: Arguments
  readonly service: ServiceClient
  /** What the program was started with. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** A line on stderr, so that stdout stays the answer. */
  progress(line: string): void
}

/** The word and the options of one call, by the names that commander gives them: `clientId` for `--client-id`. */
export class Arguments {
  /** What follows the command's name: empty for a command that takes no word. */
  readonly word: string
  /** What follows that. */
  readonly second: string | undefined
  readonly #values: Readonly<Record<string, unknown>>

  constructor([word = '', second]: readonly string[], values: Readonly<Record<string, unknown>>) {
    this.word = word
    this.second = second
    this.#values = values
  }

  text(option: string): string | undefined {
    const value = this.#values[option]
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
}

/** `--site <domain>`: takes a value that is not empty. */
export const textOption = (flags: string, description: string): Option => {
  const option = new Option(flags, description)
  return option.argParser((value: string) => {
    if (value === '') throw new InvalidArgumentError(`${option.long} is empty`)
    return value
  })
}

export const requiredOption = (flags: string, description: string): Option =>
  textOption(flags, description).makeOptionMandatory()

/** Takes one of the words. */
export const choiceOption = (flags: string, words: readonly string[], description: string) => {
  const option = new Option(flags, description)
  return option.argParser((value: string) => {
    if (words.includes(value)) return value
    throw new InvalidArgumentError(`${option.long} is ${words.join(' or ')}, not "${value}"`)
  })
}

/** Takes a value each time it is given. */
export const listOption = (flags: string, description: string): Option =>
  new Option(flags, `${description}; may be given again`).argParser<readonly string[] | undefined>(
    (value, before = []) => [...before, value],
  )

export const flagOption = (flags: string, description: string): Option =>
  new Option(flags, description)

export const SITE_OPTION = requiredOption('--site <domain>', 'the site, by its domain or its id')

/** The pool of the admins or that of the visitors. */
export const POOL_OPTION = choiceOption('--pool <pool>', ['admin', 'data'], 'admin or data')
