import { AppError } from '#base/app-error.ts'
import { SetupError } from '#config/setup-error.ts'

import { audit } from './audit.ts'
import { authGoogle } from './auth-google.ts'
import { authSet } from './auth-set.ts'
import { authShow } from './auth-show.ts'
import { type Command, type Outcome, parseArguments } from './command.ts'
import { findConnection } from './connection.ts'
import { CommandError, UsageError } from './faults.ts'
import { helpText, usageLine } from './help.ts'
import { iacExport } from './iac-export.ts'
import { iacApply, iacPlan, iacReplace } from './iac.ts'
import { keysRotate } from './keys-rotate.ts'
import { migrate } from './migrate.ts'
import { outbox } from './outbox.ts'
import { ServiceClient } from './service-client.ts'
import { sessions } from './sessions.ts'
import { siteCreate } from './site-create.ts'
import { siteDelete } from './site-delete.ts'
import { siteDeploy } from './site-deploy.ts'
import { siteList } from './site-list.ts'
import { siteShow } from './site-show.ts'
import { siteUpdate } from './site-update.ts'
import { siteVerify } from './site-verify.ts'
import { token } from './token.ts'

const COMMANDS: readonly Command[] = [
  migrate,
  siteCreate,
  siteList,
  siteShow,
  siteUpdate,
  siteDelete,
  siteDeploy,
  siteVerify,
  iacExport,
  iacPlan,
  iacApply,
  iacReplace,
  token,
  keysRotate,
  outbox,
  authShow,
  authSet,
  authGoogle,
  audit,
  sessions,
]

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  out(text: string): void
  err(text: string): void
}

/** Runs one call of `croft` and gives its exit code: 0 done, 1 failed, 2 called wrongly. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<0 | 1 | 2> {
  const { command, rest } = find(argv)
  if (!command) return help(argv, terminal)
  try {
    const args = parseArguments(command, rest)
    if (args.flag('help')) return help(['help', command.name], terminal)
    const service = new ServiceClient(() => findConnection(args, terminal.env))
    const outcome = await command.run({
      args,
      service,
      progress: (line) => terminal.err(line),
    })
    terminal.out(args.flag('json') ? JSON.stringify(outcome.json) : outcome.text)
    return exitCode(outcome)
  } catch (error) {
    return report(error, command, terminal)
  }
}

/** The longest name that the words begin with. */
function find(argv: readonly string[]): { command: Command | undefined; rest: readonly string[] } {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(' ')
    const command = COMMANDS.find((known) => known.name === name)
    if (command) return { command, rest: argv.slice(words) }
  }
  return { command: undefined, rest: argv }
}

function help(argv: readonly string[], terminal: Terminal): 0 | 2 {
  const [first, ...topic] = argv
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') {
    terminal.out(helpText(COMMANDS, topic.join(' ')))
    return 0
  }
  const words = argv.filter((word) => !word.startsWith('-')).slice(0, 2)
  terminal.err(`croft: there is no command "${words.join(' ') || first}"; "croft help" lists them`)
  return 2
}

const exitCode = (outcome: Outcome): 0 | 1 => (outcome.failed === true ? 1 : 0)

function report(error: unknown, command: Command, terminal: Terminal): 1 | 2 {
  if (error instanceof UsageError) {
    terminal.err(`croft ${command.name}: ${error.message}\n${usageLine(command)}`)
    return 2
  }
  const expected =
    error instanceof CommandError || error instanceof SetupError || error instanceof AppError
  const text = error instanceof Error ? (expected ? error.message : error.stack) : String(error)
  terminal.err(`croft ${command.name}: ${text}`)
  return 1
}
