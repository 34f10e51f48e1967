import LISTED from './command-list.json' with { type: 'json' }
import { shownAs } from './command-listing.ts'
import type { CliCommand, ShownCommand } from './command.ts'

interface ListedCommand {
  readonly name: string
  /** Loads the command with what it imports: a call pays for no other. */
  readonly load: () => Promise<CliCommand>
}

/** All commands, in the order in which help lists them. */
const COMMANDS: readonly ListedCommand[] = [
  { name: 'serve', load: async () => (await import('./serve.ts')).serve },
  { name: 'migrate', load: async () => (await import('./migrate.ts')).migrateCommand },
  { name: 'doctor', load: async () => (await import('./doctor.ts')).doctor },
  { name: 'backup create', load: async () => (await import('./backup.ts')).backupCreate },
  { name: 'backup list', load: async () => (await import('./backup-place.ts')).backupList },
  { name: 'backup verify', load: async () => (await import('./backup-place.ts')).backupVerify },
  { name: 'backup prune', load: async () => (await import('./backup-place.ts')).backupPrune },
  { name: 'restore', load: async () => (await import('./restore.ts')).restore },
  { name: 'site create', load: async () => (await import('./site-create.ts')).siteCreate },
  { name: 'site list', load: async () => (await import('./site-list.ts')).siteList },
  { name: 'site show', load: async () => (await import('./site-show.ts')).siteShow },
  { name: 'site update', load: async () => (await import('./site-update.ts')).siteUpdate },
  { name: 'site delete', load: async () => (await import('./site-delete.ts')).siteDelete },
  { name: 'site deploy', load: async () => (await import('./site-deploy.ts')).siteDeploy },
  { name: 'site branding', load: async () => (await import('./site-branding.ts')).siteBranding },
  { name: 'site bundle', load: async () => (await import('./site-bundle.ts')).siteBundle },
  {
    name: 'site deployments',
    load: async () => (await import('./site-deployments.ts')).siteDeployments,
  },
  {
    name: 'site deployment',
    load: async () => (await import('./site-deployment.ts')).siteDeployment,
  },
  { name: 'site rollback', load: async () => (await import('./site-rollback.ts')).siteRollback },
  { name: 'site profile', load: async () => (await import('./site-profile.ts')).siteProfile },
  { name: 'site logs', load: async () => (await import('./site-logs.ts')).siteLogs },
  { name: 'site export', load: async () => (await import('./site-export.ts')).siteExport },
  { name: 'site import', load: async () => (await import('./site-import.ts')).siteImport },
  { name: 'site verify', load: async () => (await import('./site-verify.ts')).siteVerify },
  { name: 'site dns', load: async () => (await import('./site-dns.ts')).siteDns },
  { name: 'site dkim show', load: async () => (await import('./site-dkim.ts')).siteDkimShow },
  { name: 'site dkim rotate', load: async () => (await import('./site-dkim.ts')).siteDkimRotate },
  {
    name: 'site dkim activate',
    load: async () => (await import('./site-dkim.ts')).siteDkimActivate,
  },
  { name: 'iac export', load: async () => (await import('./iac.ts')).iacExport },
  { name: 'iac plan', load: async () => (await import('./iac.ts')).iacPlan },
  { name: 'iac apply', load: async () => (await import('./iac.ts')).iacApply },
  { name: 'iac replace', load: async () => (await import('./iac.ts')).iacReplace },
  { name: 'env list', load: async () => (await import('./env.ts')).envList },
  { name: 'env set', load: async () => (await import('./env.ts')).envSet },
  { name: 'env unset', load: async () => (await import('./env.ts')).envUnset },
  { name: 'table list', load: async () => (await import('./table.ts')).tableList },
  { name: 'table get', load: async () => (await import('./table.ts')).tableGet },
  { name: 'table put', load: async () => (await import('./table.ts')).tablePut },
  { name: 'table import', load: async () => (await import('./table.ts')).tableImport },
  { name: 'table export', load: async () => (await import('./table.ts')).tableExport },
  { name: 'bucket ls', load: async () => (await import('./bucket.ts')).bucketList },
  { name: 'bucket cp', load: async () => (await import('./bucket.ts')).bucketCopy },
  {
    name: 'deploy-token create',
    load: async () => (await import('./deploy-token.ts')).deployTokenCreate,
  },
  {
    name: 'deploy-token list',
    load: async () => (await import('./deploy-token.ts')).deployTokenList,
  },
  {
    name: 'deploy-token end',
    load: async () => (await import('./deploy-token.ts')).deployTokenEnd,
  },
  {
    name: 'deploy-webhook create',
    load: async () => (await import('./deploy-webhook.ts')).deployWebhookCreate,
  },
  {
    name: 'deploy-webhook end',
    load: async () => (await import('./deploy-webhook.ts')).deployWebhookEnd,
  },
  { name: 'token', load: async () => (await import('./token.ts')).token },
  { name: 'keys rotate', load: async () => (await import('./keys-rotate.ts')).keysRotate },
  { name: 'mailbox create', load: async () => (await import('./mailbox-change.ts')).mailboxCreate },
  { name: 'mailbox list', load: async () => (await import('./mailbox-list.ts')).mailboxList },
  { name: 'mailbox show', load: async () => (await import('./mailbox-show.ts')).mailboxShow },
  { name: 'mailbox owners', load: async () => (await import('./mailbox-change.ts')).mailboxOwners },
  { name: 'mailbox set', load: async () => (await import('./mailbox-change.ts')).mailboxSet },
  {
    name: 'mailbox disable',
    load: async () => (await import('./mailbox-change.ts')).mailboxDisable,
  },
  {
    name: 'mailbox restore',
    load: async () => (await import('./mailbox-change.ts')).mailboxRestore,
  },
  { name: 'mailbox purge', load: async () => (await import('./mailbox-change.ts')).mailboxPurge },
  {
    name: 'mailbox credential create',
    load: async () => (await import('./mailbox-credential.ts')).mailboxCredentialCreate,
  },
  {
    name: 'mailbox credential list',
    load: async () => (await import('./mailbox-credential.ts')).mailboxCredentialList,
  },
  {
    name: 'mailbox credential delete',
    load: async () => (await import('./mailbox-credential.ts')).mailboxCredentialDelete,
  },
  { name: 'alias list', load: async () => (await import('./alias.ts')).aliasList },
  { name: 'alias set', load: async () => (await import('./alias.ts')).aliasSet },
  { name: 'alias delete', load: async () => (await import('./alias.ts')).aliasDelete },
  {
    name: 'contact-recipient list',
    load: async () => (await import('./contact-recipient.ts')).contactRecipientList,
  },
  {
    name: 'contact-recipient add',
    load: async () => (await import('./contact-recipient.ts')).contactRecipientAdd,
  },
  {
    name: 'contact-recipient remove',
    load: async () => (await import('./contact-recipient.ts')).contactRecipientRemove,
  },
  { name: 'forwarding show', load: async () => (await import('./forwarding.ts')).forwardingShow },
  { name: 'forwarding set', load: async () => (await import('./forwarding.ts')).forwardingSet },
  {
    name: 'forwarding target list',
    load: async () => (await import('./forwarding.ts')).forwardingTargetList,
  },
  {
    name: 'forwarding target add',
    load: async () => (await import('./forwarding.ts')).forwardingTargetAdd,
  },
  {
    name: 'forwarding target remove',
    load: async () => (await import('./forwarding.ts')).forwardingTargetRemove,
  },
  { name: 'mail list', load: async () => (await import('./mail-list.ts')).mailList },
  { name: 'mail show', load: async () => (await import('./mail-show.ts')).mailShow },
  { name: 'mail send', load: async () => (await import('./mail-send.ts')).mailSend },
  { name: 'mail reply', load: async () => (await import('./mail-send.ts')).mailReply },
  { name: 'mail reparse', load: async () => (await import('./mail-reparse.ts')).mailReparse },
  {
    name: 'mail suppressions',
    load: async () => (await import('./mail-suppression.ts')).suppressionList,
  },
  {
    name: 'mail unsuppress',
    load: async () => (await import('./mail-suppression.ts')).suppressionRemove,
  },
  { name: 'outbox', load: async () => (await import('./outbox.ts')).outbox },
  { name: 'auth show', load: async () => (await import('./auth-show.ts')).authShow },
  { name: 'auth set', load: async () => (await import('./auth-set.ts')).authSet },
  { name: 'auth google', load: async () => (await import('./auth-google.ts')).authGoogle },
  { name: 'client register', load: async () => (await import('./client.ts')).clientRegister },
  { name: 'client list', load: async () => (await import('./client.ts')).clientList },
  { name: 'client change', load: async () => (await import('./client.ts')).clientChange },
  { name: 'client secret', load: async () => (await import('./client.ts')).clientSecret },
  { name: 'client remove', load: async () => (await import('./client.ts')).clientRemove },
  { name: 'audit', load: async () => (await import('./audit.ts')).audit },
  { name: 'sessions', load: async () => (await import('./sessions.ts')).sessions },
  {
    name: 'second-factor remove',
    load: async () => (await import('./second-factor-remove.ts')).secondFactorRemove,
  },
  { name: 'users', load: async () => (await import('./users.ts')).users },
]

export const commandNames: readonly string[] = COMMANDS.map(({ name }) => name)

/** Whether a call may mean that command. */
const isNamedBy = ({ name }: ListedCommand, words: readonly string[]): boolean =>
  name.split(' ').every((word, at) => words[at] === word)

/** Whether a call may mean that command by its group alone. */
const isDefaultOf = ({ name }: ListedCommand, words: readonly string[]): boolean =>
  LISTED.some((listed) => listed.name === name && listed.isDefault) &&
  name
    .split(' ')
    .slice(0, -1)
    .every((word, at) => words[at] === word)

/** The command that the first words of a call name; all of them, to be listed, where they name none, or a group. */
export async function commandsFor(words: readonly string[]): Promise<readonly ShownCommand[]> {
  const named = COMMANDS.filter((command) => isNamedBy(command, words))
  const found = named.length > 0 ? named : COMMANDS.filter((command) => isDefaultOf(command, words))
  return found.length > 0 ? Promise.all(found.map(({ load }) => load())) : listedCommands()
}

export async function commandNamed(name: string): Promise<CliCommand> {
  const found = COMMANDS.find((command) => command.name === name)
  if (!found) throw new Error(`There is no command "${name}"`)
  return found.load()
}

/** As help shows them, without loading one. */
export const listedCommands = (): readonly ShownCommand[] => LISTED.map(shownAs)

/** Loads all of them. */
export const allCommands = (): Promise<readonly CliCommand[]> =>
  Promise.all(COMMANDS.map(({ load }) => load()))
