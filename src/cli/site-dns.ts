import { SiteDns } from '#mail/dns-records/model.ts'

import { columns, printable } from './columns.ts'
import type { CliCommand } from './command.ts'
import { sitePath } from './service-client.ts'

export const siteDns: CliCommand = {
  name: 'site dns',
  summary:
    'List the DNS records that the mail and the names of a site need, and which of them exist',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const dns = await service.portalAs(SiteDns, 'GET', sitePath(args.word, '/dns'))
    return { json: dns, text: textOf(dns) }
  },
}

function textOf({ records }: SiteDns): string {
  const rows = records.map(({ purpose, state, type, name, note }) =>
    [purpose, state, type, name, note ?? ''].map(printable),
  )
  const others = records
    .filter(({ state }) => state === 'different')
    .flatMap(({ name, found }) => found.map((text) => printable(`${name} has: ${text}`)))
  const zone = records.map((record) => printable(record.zone))
  return [columns(rows), ...others, '', ...zone].join('\n')
}
