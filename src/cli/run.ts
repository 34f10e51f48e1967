import type { Command, CommanderError } from 'commander'

import { AppError } from '#base/app-error.ts'
import { terminalJson } from '#base/terminal-text.ts'
import { programVersion } from '#config/program-version.ts'
import { SetupError } from '#config/setup-error.ts'

import { Arguments, type CliCommand, RequiredOption } from './command.ts'
import { commandNamed, commandNames, commandsFor, listedCommands } from './commands.ts'
import { CommandError, UsageError } from './errors.ts'
import { createProgram, fullName } from './program.ts'
import { similarCommands } from './similar-commands.ts'

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  out(text: string): void
  err(text: string): void
  /** Writes to stdout as they come, without more. */
  bytes(chunks: AsyncIterable<Uint8Array>): Promise<void>
}

type ExitCode = 0 | 1 | 2

/** Ends the parsing of a call that needs no command, or names none that can be run. */
class ParsingEnded extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode) {
    super()
    this.exitCode = exitCode
  }
}

/** Runs one call of `croft` and gives its exit code: 0 done, 1 failed, 2 called wrongly. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [first = 'help', ...rest] = argv
  if (first === '--version') {
    terminal.out(`croft ${await programVersion()}`)
    return 0
  }
  const unknown = isForHelp(argv) ? unknownWords(argv) : undefined
  if (unknown !== undefined) {
    terminal.err(unknownCommand(unknown))
    return 2
  }
  let exitCode: ExitCode = 0
  const commands = isForHelp(argv) ? listedCommands() : await commandsFor(argv)
  const program = createProgram(commands, {
    out: (text) => terminal.out(text),
    exit(error, parsed) {
      if (error.exitCode === 0) throw new ParsingEnded(0)
      if (error.code === 'commander.help') {
        terminal.out(parsed.helpInformation().trimEnd())
        throw new ParsingEnded(0)
      }
      terminal.err(refusal(error, { argv, parsed }))
      throw new ParsingEnded(2)
    },
    async run(name, parsed) {
      exitCode = await runCommand(await commandNamed(name), parsed, terminal)
    },
  })
  try {
    await program.parseAsync(first === 'help' ? [...rest, '--help'] : argv, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof ParsingEnded) return error.exitCode
    throw error
  }
}

const HELP: ReadonlySet<string> = new Set(['--help', '-h'])

/** Whether nothing will run. */
const isForHelp = ([first = 'help', ...rest]: readonly string[]): boolean =>
  first === 'help' ||
  (HELP.has(rest.at(-1) ?? first) && rest.slice(0, -1).every((word) => !word.startsWith('-')))

/** The first words of a call for help when they name neither a command nor a group. */
function unknownWords(argv: readonly string[]): readonly string[] | undefined {
  const words = argv.filter((word) => word !== 'help' && !word.startsWith('-'))
  const isKnown = [1, 2, 3].some((length) =>
    commandNames.includes(words.slice(0, length).join(' ')),
  )
  const isGroup = commandNames.some((name) => `${name} `.startsWith(`${words.join(' ')} `))
  return words.length === 0 || isKnown || isGroup ? undefined : words.slice(0, 2)
}

async function runCommand(
  command: CliCommand,
  parsed: Command,
  terminal: Terminal,
): Promise<ExitCode> {
  try {
    requireOptions(command, parsed)
    const result = await command.run({
      ...(await callOf(command, parsed, terminal)),
      progress: (line) => terminal.err(line),
    })
    if ('bytes' in result) {
      await terminal.bytes(result.bytes)
      return 0
    }
    terminal.out(parsed.opts()['json'] === true ? terminalJson(result.json) : result.text)
    return result.failed === true ? 1 : 0
  } catch (error) {
    return report(error, parsed, terminal)
  }
}

/** After parsing: an option that does not exist is reported before one that is missing. */
function requireOptions({ options }: CliCommand, parsed: Command): void {
  const missing = options.find(
    (option) =>
      option instanceof RequiredOption &&
      parsed.getOptionValue(option.attributeName()) === undefined,
  )
  if (missing) throw new UsageError(`${missing.long} is missing`)
}

/** What speaks to the service is loaded for a command that runs: it is most of what a call loads. */
async function callOf(command: CliCommand, parsed: Command, { env }: Terminal) {
  const { findConnection } = await import('./connection.ts')
  const { ServiceClient } = await import('./service-client.ts')
  const args = new Arguments(argumentsOf(command, parsed), parsed.opts())
  const { deployToken } = command
  return { args, env, service: new ServiceClient(() => findConnection(args, env, deployToken)) }
}

/** The words of a call, as many as the command takes; the first may be given by an option of earlier versions. */
function argumentsOf(
  { words: names = [], wordOption }: CliCommand,
  parsed: Command,
): readonly string[] {
  const { args } = parsed
  const first: unknown = wordOption === undefined ? undefined : parsed.getOptionValue(wordOption)
  const words = typeof first === 'string' ? [first, ...args] : args
  names.forEach((name, at) => {
    const isMissing = words[at] === undefined ? !name.startsWith('[') : words[at] === ''
    if (isMissing) throw new UsageError(`${name.replaceAll(/[[\]]/g, '')} is missing`)
  })
  const extra = words[names.length]
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`)
  return words
}

function report(error: unknown, parsed: Command, terminal: Terminal): 1 | 2 {
  if (error instanceof UsageError) {
    terminal.err(wrongCall(error.message, parsed))
    return 2
  }
  const expected =
    error instanceof CommandError || error instanceof SetupError || error instanceof AppError
  const text = error instanceof Error ? (expected ? error.message : error.stack) : String(error)
  terminal.err(`${fullName(parsed)}: ${text}`)
  return 1
}

const wrongCall = (reason: string, parsed: Command): string =>
  `${fullName(parsed)}: ${reason}\nusage: ${fullName(parsed)} ${parsed.usage()}`.trimEnd()

/** What commander refuses, said as the commands say theirs. */
const REASONS: Readonly<Record<string, readonly [RegExp, string]>> = {
  'commander.invalidArgument': [/^.*? is invalid\. /s, ''],
  'commander.missingArgument': [/^missing required argument '(.*)'$/, '$1 is missing'],
  // The usage below says which value.
  'commander.optionMissingArgument': [/^option '(\S+).*'/, "option '$1 <value>'"],
}

function refusal(
  { code, message }: CommanderError,
  { argv, parsed }: { readonly argv: readonly string[]; readonly parsed: Command },
): string {
  const text = message.replace(/^error: /, '')
  if (code === 'commander.unknownCommand') {
    const options = argv.findIndex((word) => word.startsWith('-'))
    const words = argv.slice(0, options === -1 ? 2 : Math.min(options, 2))
    return unknownCommand(words)
  }
  const [pattern, replacement] = REASONS[code] ?? [/^unknown/, 'Unknown']
  return wrongCall(text.replace(pattern, replacement).replace('\n', ' '), parsed)
}

function unknownCommand(words: readonly string[]): string {
  const similar = similarCommands(words, commandNames).map((name) => `"${name}"`)
  const suggestion = similar.length === 0 ? '' : ` (Did you mean ${similar.join(' or ')}?)`
  return `croft: there is no command "${words.join(' ')}"; "croft help" lists them${suggestion}`
}
