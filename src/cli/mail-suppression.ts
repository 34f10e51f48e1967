import { Type } from '@sinclair/typebox'

import { Suppression } from '#mail/sending/model.ts'

import { columns, printable } from './columns.ts'
import { type CliCommand, textOption } from './command.ts'
import { sitePath } from './service-client.ts'

const SuppressionPage = Type.Object({
  items: Type.Array(Suppression),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

export const suppressionList: CliCommand = {
  name: 'mail suppressions',
  summary: 'The addresses that a site sends nothing to, because mail to them came back',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const items = await service.portalItems(
      SuppressionPage,
      sitePath(args.word, '/mail-suppressions'),
    )
    return {
      json: { items, nextToken: null },
      text: items.length === 0 ? 'No address is suppressed' : columns(items.map(rowOf)),
    }
  },
}

export const suppressionRemove: CliCommand = {
  name: 'mail unsuppress',
  summary: 'Have a site send to an address again',
  words: ['DOMAIN'],
  options: [textOption('--address <address>', 'the address')],
  async run({ args, service }) {
    const address = args.required('address')
    const path = `/mail-suppressions/${encodeURIComponent(address)}`
    await service.portal('DELETE', sitePath(args.word, path))
    return { json: { address, suppressed: false }, text: `Mail is sent to ${address} again.` }
  },
}

const rowOf = ({ createdAt, address, detail }: Suppression): string[] =>
  [createdAt, address, detail].map(printable)
