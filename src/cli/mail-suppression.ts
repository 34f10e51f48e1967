import { Suppression } from '#mail/sending/model.ts'

import { type CliCommand, textOption } from './command.ts'
import { listCommand } from './list-command.ts'
import { sitePath } from './service-client.ts'

export const suppressionList = listCommand({
  name: 'mail suppressions',
  summary: 'List the addresses that a site sends nothing to, because mail to them bounced',
  path: '/mail-suppressions',
  item: Suppression,
  row: ({ createdAt, address, detail }) => [createdAt, address, detail],
  empty: 'No address is suppressed',
})

export const suppressionRemove: CliCommand = {
  name: 'mail unsuppress',
  summary: 'Remove an address from the suppressions of a site',
  words: ['DOMAIN'],
  options: [textOption('--address <address>', 'the address')],
  async run({ args, service }) {
    const address = args.required('address')
    const path = `/mail-suppressions/${encodeURIComponent(address)}`
    await service.portal('DELETE', sitePath(args.word, path))
    return { json: { address, suppressed: false }, text: `Mail is sent to ${address} again.` }
  },
}
