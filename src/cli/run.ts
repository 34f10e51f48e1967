import type { Command, CommanderError } from 'commander'

import { AppError } from '#base/app-error.ts'
import { terminalJson } from '#base/terminal-text.ts'
import { SetupError } from '#config/setup-error.ts'

import { aliasDelete, aliasList, aliasSet } from './alias.ts'
import { audit } from './audit.ts'
import { authGoogle } from './auth-google.ts'
import { authSet } from './auth-set.ts'
import { authShow } from './auth-show.ts'
import { backupList, backupPrune, backupVerify } from './backup-place.ts'
import { backupCreate } from './backup.ts'
import { clientChange, clientList, clientRegister, clientRemove, clientSecret } from './client.ts'
import { Arguments, type CliCommand } from './command.ts'
import { findConnection } from './connection.ts'
import {
  contactRecipientAdd,
  contactRecipientList,
  contactRecipientRemove,
} from './contact-recipient.ts'
import { deployTokenCreate, deployTokenEnd, deployTokenList } from './deploy-token.ts'
import { deployWebhookCreate, deployWebhookEnd } from './deploy-webhook.ts'
import { doctor } from './doctor.ts'
import { CommandError, UsageError } from './errors.ts'
import {
  forwardingSet,
  forwardingShow,
  forwardingTargetAdd,
  forwardingTargetList,
  forwardingTargetRemove,
} from './forwarding.ts'
import { iacApply, iacExport, iacPlan, iacReplace } from './iac.ts'
import { keysRotate } from './keys-rotate.ts'
import { mailList } from './mail-list.ts'
import { mailReply, mailSend } from './mail-send.ts'
import { mailShow } from './mail-show.ts'
import { suppressionList, suppressionRemove } from './mail-suppression.ts'
import {
  mailboxCreate,
  mailboxDisable,
  mailboxOwners,
  mailboxPurge,
  mailboxRestore,
  mailboxSet,
} from './mailbox-change.ts'
import {
  mailboxCredentialCreate,
  mailboxCredentialDelete,
  mailboxCredentialList,
} from './mailbox-credential.ts'
import { mailboxList } from './mailbox-list.ts'
import { mailboxShow } from './mailbox-show.ts'
import { migrateCommand } from './migrate.ts'
import { outbox } from './outbox.ts'
import { createProgram, fullName } from './program.ts'
import { restore } from './restore.ts'
import { secondFactorRemove } from './second-factor-remove.ts'
import { serve } from './serve.ts'
import { ServiceClient } from './service-client.ts'
import { sessions } from './sessions.ts'
import { siteBranding } from './site-branding.ts'
import { siteBundle } from './site-bundle.ts'
import { siteCreate } from './site-create.ts'
import { siteDelete } from './site-delete.ts'
import { siteDeploy } from './site-deploy.ts'
import { siteDeployment } from './site-deployment.ts'
import { siteDeployments } from './site-deployments.ts'
import { siteDkimActivate, siteDkimRotate, siteDkimShow } from './site-dkim.ts'
import { siteDns } from './site-dns.ts'
import { siteExport } from './site-export.ts'
import { siteImport } from './site-import.ts'
import { siteList } from './site-list.ts'
import { siteLogs } from './site-logs.ts'
import { siteProfile } from './site-profile.ts'
import { siteRollback } from './site-rollback.ts'
import { siteShow } from './site-show.ts'
import { siteUpdate } from './site-update.ts'
import { siteVerify } from './site-verify.ts'
import { token } from './token.ts'
import { users } from './users.ts'

const COMMANDS: readonly CliCommand[] = [
  serve,
  migrateCommand,
  doctor,
  backupCreate,
  backupList,
  backupVerify,
  backupPrune,
  restore,
  siteCreate,
  siteList,
  siteShow,
  siteUpdate,
  siteDelete,
  siteDeploy,
  siteBranding,
  siteBundle,
  siteDeployments,
  siteDeployment,
  siteRollback,
  siteProfile,
  siteLogs,
  siteExport,
  siteImport,
  siteVerify,
  siteDns,
  siteDkimShow,
  siteDkimRotate,
  siteDkimActivate,
  iacExport,
  iacPlan,
  iacApply,
  iacReplace,
  deployTokenCreate,
  deployTokenList,
  deployTokenEnd,
  deployWebhookCreate,
  deployWebhookEnd,
  token,
  keysRotate,
  mailboxCreate,
  mailboxList,
  mailboxShow,
  mailboxOwners,
  mailboxSet,
  mailboxDisable,
  mailboxRestore,
  mailboxPurge,
  mailboxCredentialCreate,
  mailboxCredentialList,
  mailboxCredentialDelete,
  aliasList,
  aliasSet,
  aliasDelete,
  contactRecipientList,
  contactRecipientAdd,
  contactRecipientRemove,
  forwardingShow,
  forwardingSet,
  forwardingTargetList,
  forwardingTargetAdd,
  forwardingTargetRemove,
  mailList,
  mailShow,
  mailSend,
  mailReply,
  suppressionList,
  suppressionRemove,
  outbox,
  authShow,
  authSet,
  authGoogle,
  clientRegister,
  clientList,
  clientChange,
  clientSecret,
  clientRemove,
  audit,
  sessions,
  secondFactorRemove,
  users,
]

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
  let exitCode: ExitCode = 0
  const program = createProgram(COMMANDS, {
    out: (text) => terminal.out(text),
    exit(error, parsed) {
      if (error.exitCode === 0) throw new ParsingEnded(0)
      terminal.err(refusal(error, { argv, parsed }))
      throw new ParsingEnded(2)
    },
    async run(command, parsed) {
      exitCode = await runCommand(command, parsed, terminal)
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

async function runCommand(
  command: CliCommand,
  parsed: Command,
  terminal: Terminal,
): Promise<ExitCode> {
  try {
    const result = await command.run({
      ...callOf(command, parsed, terminal),
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

function callOf(command: CliCommand, parsed: Command, { env }: Terminal) {
  const args = new Arguments(wordsOf(command, parsed.args), parsed.opts())
  const { deployToken } = command
  return { args, env, service: new ServiceClient(() => findConnection(args, env, deployToken)) }
}

/** The words of a call, as many as the command takes. */
function wordsOf({ words: names = [] }: CliCommand, words: readonly string[]): readonly string[] {
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
  'commander.missingMandatoryOptionValue': [
    /^required option '(\S+).*' not specified$/,
    '$1 is missing',
  ],
  // The usage below says which value.
  'commander.optionMissingArgument': [/^option '(\S+).*'/, "option '$1 <value>'"],
}

function refusal(
  { code, message }: CommanderError,
  { argv, parsed }: { readonly argv: readonly string[]; readonly parsed: Command },
): string {
  const text = message.replace(/^error: /, '')
  if (code === 'commander.unknownCommand' || code === 'commander.help') {
    const words = argv.filter((word) => !word.startsWith('-')).slice(0, 2)
    const [, suggestion = ''] = text.split('\n')
    return `croft: there is no command "${words.join(' ')}"; "croft help" lists them ${suggestion}`.trimEnd()
  }
  const [pattern, replacement] = REASONS[code] ?? [/^unknown/, 'Unknown']
  return wrongCall(text.replace(pattern, replacement).replace('\n', ' '), parsed)
}
