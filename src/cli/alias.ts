import { Alias } from '#mail/aliases/model.ts'

import { columns, printable } from './columns.ts'
import { type CliCommand, listOption } from './command.ts'
import { UsageError } from './errors.ts'
import { listCommand } from './list-command.ts'
import { namedAddress } from './mail-address.ts'

export const aliasList = listCommand({
  name: 'alias list',
  summary: 'List the aliases of a site',
  path: '/aliases',
  item: Alias,
  row: rowOf,
  empty: 'No alias yet: croft alias set',
})

export const aliasSet: CliCommand = {
  name: 'alias set',
  summary: 'Create an alias, or replace its mailboxes',
  words: ['ADDRESS'],
  options: [listOption('--to <mailbox>', 'the address of a mailbox')],
  async run({ args, service }) {
    const targets = args.list('to')
    if (targets === undefined) throw new UsageError('--to is missing')
    const path = namedAddress(args).path('aliases')
    const alias = await service.portalAs(Alias, 'PUT', path, { body: { targets } })
    return { json: alias, text: columns([rowOf(alias).map(printable)]) }
  },
}

export const aliasDelete: CliCommand = {
  name: 'alias delete',
  summary: 'Delete an alias',
  words: ['ADDRESS'],
  options: [],
  async run({ args, service }) {
    const { address, path } = namedAddress(args)
    await service.portal('DELETE', path('aliases'))
    return { json: { address, deleted: true }, text: `Deleted ${address}.` }
  },
}

function rowOf({ address, targets }: Alias): string[] {
  return [address, `→ ${targets.join(', ')}`]
}
