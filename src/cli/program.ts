import { Command, type CommanderError, type Help } from 'commander'

import { RequiredOption, type ShownCommand, flagOption, textOption } from './command.ts'

const COMMON = [
  flagOption('--json', 'print one JSON value on stdout'),
  textOption('--url <url>', 'where the service is; else CROFT_BASE_URL, PORT, or its data folder'),
  textOption(
    '--operator-url <url>',
    "where the operator's listener is, if it has one; else OPERATOR_PORT, or its data folder",
  ),
  textOption('--operator-key <key>', 'else CROFT_OPERATOR_KEY, or its data folder'),
].map((option) => option.helpGroup('Options of every command:'))

const TOKEN_FLAGS = '--token-file <file>'
/** Of the commands that CI runs. */
const TOKEN_FILE = textOption(
  TOKEN_FLAGS,
  'a file with a deploy token of the site, instead of the operator key; else CROFT_DEPLOY_TOKEN',
).helpGroup('Options of every command:')
/** Of the others, which say so. */
const NO_TOKEN_FILE = textOption(TOKEN_FLAGS, 'not taken by this command').hideHelp()

const GROUPS: Readonly<Record<string, string>> = {
  backup: 'Backups of this installation',
  site: 'The sites of this installation',
  'site dkim': 'The keys that sign the mail of a site',
  mailbox: 'The mailboxes of a site',
  'mailbox credential': 'Passwords with which mail programs send',
  alias: 'Addresses of a site that lead to mailboxes',
  'contact-recipient': 'Recipients of the contact form of a site',
  forwarding: 'The forwarding of a mailbox',
  'forwarding target': 'Addresses that a mailbox forwards to',
  mail: 'The messages of mailboxes',
  'deploy-token': 'Secrets with which CI deploys a site',
  'deploy-webhook':
    'The secret with which the forge of a site’s external repository reports pushes',
  env: 'The environment variables of a site’s functions',
  table: 'The tables of a site and their items',
  bucket: 'The buckets of a site and their objects',
  iac: 'The definition of a site',
  'second-factor': 'Authenticator apps of accounts',
  keys: 'The keys that sign tokens',
  auth: 'The sign-in of a site',
}

const HELP: Partial<Help> = {
  visibleCommands: (command) => leavesOf(command),
  subcommandTerm: (command) => `${fullName(command)} ${command.usage()}`,
  // Puts the usage on a line of its own, as commands are listed.
  styleTitle: (title) => (title === 'Usage:' ? 'Usage:\n ' : title),
}

export interface ProgramHooks {
  /** Carries out the command that was named; `parsed` has its options and words. */
  run(name: string, parsed: Command): Promise<void>
  /** Ends a call that commander has answered or refused by itself. */
  exit(error: CommanderError, parsed: Command): never
  out(text: string): void
}

/** Makes the parser of every command and its options, which also explains them. */
export function createProgram(commands: readonly ShownCommand[], hooks: ProgramHooks): Command {
  const program = new Command('croft')
    .description('croft: a self-hosted backend for many websites on one installation')
    .usage('<command> [options]')
    .addOption(flagOption('--version', 'print the version'))
    .helpCommand(false)
    .configureHelp(HELP)
    .configureOutput({ writeOut: (text) => hooks.out(text.trimEnd()), writeErr: () => undefined })
    .addHelpText('after', '\n"croft help COMMAND" shows the options of a command.')
  const groups = new Map<string, Command>()
  for (const command of commands) {
    const words = command.name.split(' ')
    const group = words.slice(0, -1).reduce((parent, word) => {
      const name = `${groupName(parent)} ${word}`.trim()
      const known = groups.get(name) ?? parent.command(word).description(GROUPS[name] ?? '')
      groups.set(name, known)
      return known
    }, program)
    addCommand(group, words.at(-1) ?? '', { command, hooks })
  }
  for (const parsed of [program, ...groups.values()]) {
    parsed.exitOverride((error) => hooks.exit(error, parsed))
  }
  return program
}

function addCommand(
  parent: Command,
  name: string,
  { command, hooks }: { readonly command: ShownCommand; readonly hooks: ProgramHooks },
): void {
  const { summary, words = [], options } = command
  const { isDefault = false } = command
  const parsed = parent.command(name, { isDefault }).description(summary).allowExcessArguments()
  for (const word of words) parsed.argument(`[${word.replaceAll(/[[\]]/g, '')}]`)
  const token = command.deployToken === true ? TOKEN_FILE : NO_TOKEN_FILE
  const common = command.isProcess === true ? [] : [token, ...COMMON]
  for (const option of [...options, ...common]) parsed.addOption(option)
  if (command.wordOption !== undefined) {
    parsed.addOption(textOption(`--${command.wordOption} <domain>`, 'as DOMAIN').hideHelp())
  }
  const required = options
    .filter((option) => option instanceof RequiredOption)
    .map(({ flags }) => flags)
  parsed.usage([...words, ...required, '[options]'].join(' '))
  parsed.exitOverride((error) => hooks.exit(error, parsed))
  parsed.action(() => hooks.run(command.name, parsed))
}

/** `croft site create` */
export const fullName = (command: Command): string =>
  command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`

/** `site dkim`; empty for the program itself. */
const groupName = (group: Command): string =>
  group.parent === null ? '' : `${groupName(group.parent)} ${group.name()}`.trim()

const leavesOf = (command: Command): Command[] =>
  command.commands.flatMap((child) => (child.commands.length === 0 ? [child] : leavesOf(child)))
