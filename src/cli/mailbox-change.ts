import { requireAgreement } from './agreement.ts'
import {
  type Arguments,
  type CliCommand,
  YES_OPTIONS,
  choiceOption,
  listOption,
  textOption,
} from './command.ts'
import { UsageError } from './errors.ts'
import { namedAddress } from './mail-address.ts'
import { showMailbox } from './mailbox-show.ts'
import { defined } from './site-options.ts'

const OWNER_OPTION = listOption('--owner <user>', 'a user of the site, by address or id')

export const mailboxCreate: CliCommand = {
  name: 'mailbox create',
  summary: 'Create a mailbox at an address of a site',
  words: ['ADDRESS'],
  options: [OWNER_OPTION],
  async run(call) {
    const { address, sitePath } = namedAddress(call.args)
    const owners = call.args.list('owner')
    if (owners === undefined) throw new UsageError('--owner is missing')
    await call.service.portal('POST', sitePath('/mailboxes'), { body: { address, owners } })
    return showMailbox(call)
  },
}

export const mailboxOwners: CliCommand = {
  name: 'mailbox owners',
  summary: 'Add, remove or replace the owners of a mailbox',
  words: ['ADDRESS'],
  options: [
    listOption('--add <user>', 'by address or id'),
    listOption('--remove <user>', 'by address or id'),
    listOption('--set <user>', 'the only owner from now on'),
  ],
  async run(call) {
    const { args, service } = call
    const path = namedAddress(args).path('mailboxes')
    const [set, add, remove] = [args.list('set'), args.list('add'), args.list('remove')]
    if (set && (add ?? remove)) throw new UsageError('--set excludes --add and --remove')
    if (!set && !add && !remove) throw new UsageError('name the owners to --add, --remove or --set')
    if (set) await service.portal('PATCH', path, { body: { owners: set } })
    if (add) await service.portal('POST', `${path}/owners`, { body: { owners: add } })
    if (remove) await service.portal('DELETE', `${path}/owners`, { body: { owners: remove } })
    return showMailbox(call)
  },
}

export const mailboxSet: CliCommand = {
  name: 'mailbox set',
  summary: 'Change settings of a mailbox; options that are left out change nothing',
  words: ['ADDRESS'],
  options: [
    choiceOption('--trash-auto-purge <on|off>', ['on', 'off'], 'empty the trash by itself'),
    textOption('--trash-retention-days <number>', 'after so many days'),
    textOption('--quota-bytes <number>', 'the limit in bytes, or "none"'),
    textOption('--quota-messages <number>', 'the limit in messages, or "none"'),
  ],
  async run(call) {
    const { args, service } = call
    const purge = args.text('trashAutoPurge')
    const body = defined({
      trashAutoPurge: purge === undefined ? undefined : purge === 'on',
      trashRetentionDays: numberOf(args, 'trashRetentionDays'),
      quotaBytes: quotaOf(args, 'quotaBytes'),
      quotaMessages: quotaOf(args, 'quotaMessages'),
    })
    if (Object.keys(body).length === 0) throw new UsageError('say what to change')
    await service.portal('PUT', namedAddress(args).path('mailboxes', '/settings'), { body })
    return showMailbox(call)
  },
}

export const mailboxDisable: CliCommand = {
  name: 'mailbox disable',
  summary: 'Disable a mailbox: it takes no more mail, and what it has stays',
  words: ['ADDRESS'],
  options: [],
  async run(call) {
    await call.service.portal('DELETE', namedAddress(call.args).path('mailboxes'))
    return showMailbox(call)
  },
}

export const mailboxRestore: CliCommand = {
  name: 'mailbox restore',
  summary: 'Restore a disabled mailbox, for its earlier owners or for others',
  words: ['ADDRESS'],
  options: [OWNER_OPTION],
  async run(call) {
    const { args, service } = call
    const body = defined({ owners: args.list('owner') })
    await service.portal('POST', namedAddress(args).path('mailboxes', '/restore'), { body })
    return showMailbox(call)
  },
}

export const mailboxPurge: CliCommand = {
  name: 'mailbox purge',
  summary: 'Delete a disabled mailbox and all its mail permanently',
  words: ['ADDRESS'],
  options: YES_OPTIONS,
  async run({ args, service }) {
    const { address, path } = namedAddress(args)
    await requireAgreement(args, `this removes all mail of "${address}"`)
    await service.portal('POST', path('mailboxes', '/purge'), { body: { confirm: true } })
    return { json: { address, purged: true }, text: `Purged ${address}.` }
  },
}

const quotaOf = (args: Arguments, option: 'quotaBytes' | 'quotaMessages') =>
  args.text(option) === 'none' ? null : numberOf(args, option)

function numberOf(args: Arguments, option: string): number | undefined {
  const text = args.text(option)
  if (text === undefined) return undefined
  if (/^\d{1,16}$/.test(text)) return Number(text)
  throw new UsageError(`"${text}" is no whole number`)
}
