import { InvalidArgumentError, Option } from 'commander'

import { UsageError } from './errors.ts'
import type { ServiceClient } from './service-client.ts'

/** What a word of a command names. */
type CommandWord =
  | 'DOMAIN'
  | 'ADDRESS'
  | 'MESSAGE'
  | 'FILE'
  | 'NAME'
  | 'TABLE'
  | 'KEY'
  | '[ITEM]'
  | 'BUCKET'
  | '[PREFIX]'
  | 'FROM'
  | 'TO'
  | 'DEPLOYMENT_ID'
  | '[DEPLOYMENT_ID]'

/** What help shows of a command. */
export interface ShownCommand {
  /** As it is typed: `site create`. */
  readonly name: string
  readonly summary: string
  /** The words that follow the name; in brackets when one may be left out. */
  readonly words?: readonly string[]
  /** The option by which earlier versions named the first word; it goes on working. */
  readonly wordOption?: string
  readonly options: readonly Option[]
  /** Whether it also works with a deploy token of its site, instead of the operator key. */
  readonly deployToken?: boolean
  /** Whether it becomes the service, rather than speaking to it. */
  readonly isProcess?: boolean
  /** Whether it is meant when the last word of its name is left out. */
  readonly isDefault?: boolean
}

/** One thing that `croft` does. */
export interface CliCommand extends ShownCommand {
  readonly words?: readonly CommandWord[]
  readonly wordOption?: 'site' | 'domain'
  readonly deployToken?: true
  readonly isProcess?: true
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
  readonly progress: (line: string) => void
}

/** The word and the options of one call, by the names that commander gives them: `clientId` for `--client-id`. */
export class Arguments {
  /** What follows the command's name: empty for a command that takes no word. */
  readonly word: string
  /** What follows that. */
  readonly second: string | undefined
  readonly third: string | undefined
  readonly #values: Readonly<Record<string, unknown>>

  constructor(
    [word = '', second, third]: readonly string[],
    values: Readonly<Record<string, unknown>>,
  ) {
    this.word = word
    this.second = second
    this.third = third
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
export const textOption = (flags: string, description: string): Option =>
  notEmpty(new Option(flags, description))

const notEmpty = (option: Option): Option =>
  option.argParser((value: string) => {
    if (value === '') throw new InvalidArgumentError(`${option.long} is empty`)
    return value
  })

/** An option that a call must have. Not `makeOptionMandatory`, which reports it before an option that does not exist. */
export class RequiredOption extends Option {}

export const requiredOption = (flags: string, description: string): Option =>
  notEmpty(new RequiredOption(flags, description))

/** Takes one of the words. */
export const choiceOption = (
  flags: string,
  words: readonly string[],
  description: string,
): Option => oneOf(words, new Option(flags, description))

export const requiredChoiceOption = (
  flags: string,
  words: readonly string[],
  description: string,
): Option => oneOf(words, new RequiredOption(flags, description))

const oneOf = (words: readonly string[], option: Option): Option =>
  option.argParser((value: string) => {
    if (words.includes(value)) return value
    throw new InvalidArgumentError(`${option.long} is ${words.join(' or ')}, not "${value}"`)
  })

/** Takes a value each time it is given. */
export const listOption = (flags: string, description: string): Option =>
  new Option(flags, `${description}; may be given again`).argParser<readonly string[] | undefined>(
    (value, before = []) => [...before, value],
  )

export const flagOption = (flags: string, description: string): Option =>
  new Option(flags, description)

/** The one word of agreement to what cannot be undone. `--confirm` is its earlier spelling. */
export const YES_OPTIONS: readonly Option[] = [
  flagOption('--yes', 'confirm it'),
  flagOption('--confirm', 'as --yes').hideHelp(),
]

export const isAgreed = (args: Arguments): boolean => args.flag('yes') || args.flag('confirm')

/** The pool of the admins or that of the visitors. */
export const POOL_OPTION = choiceOption('--pool <pool>', ['admin', 'data'], 'admin or data')
