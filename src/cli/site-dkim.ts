import { Type } from '@sinclair/typebox'

import { DkimKey } from '#mail/dkim/model.ts'

import { columns, printable } from './columns.ts'
import { type CliCommand, flagOption } from './command.ts'
import { sitePath } from './service-client.ts'

/** Times as they come over the wire. */
const OrNever = Type.Union([Type.String(), Type.Null()])
const ShownKey = Type.Composite([
  Type.Omit(DkimKey, ['createdAt', 'activatedAt', 'supersededAt', 'retiredAt']),
  Type.Object({
    createdAt: Type.String(),
    activatedAt: OrNever,
    supersededAt: OrNever,
    retiredAt: OrNever,
  }),
])
const ShownKeys = Type.Object({ items: Type.Array(ShownKey) })

export const siteDkimShow: CliCommand = {
  name: 'site dkim show',
  summary: 'List the keys with which a site signs its mail',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const shown = await service.portalAs(ShownKeys, 'GET', sitePath(args.word, '/dkim'))
    const rows = shown.items.map((key) => [
      key.selector,
      key.state,
      `created ${key.createdAt}`,
      key.activatedAt === null ? '' : `active since ${key.activatedAt}`,
      key.retiredAt === null ? '' : `record needed until ${key.retiredAt}`,
    ])
    return { json: shown, text: columns(rows.map((row) => row.map(printable))) }
  },
}

export const siteDkimRotate: CliCommand = {
  name: 'site dkim rotate',
  summary:
    'Create a new key for the mail of a site; it signs once its record is published and it is activated',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const path = sitePath(args.word, '/dkim/rotate')
    const key = await service.portalAs(ShownKey, 'POST', path)
    const lines = [
      `${key.selector} is ${key.state}: publish its record, which "croft site dns ${args.word}" shows for a zone file,`,
      `then call "croft site dkim activate ${args.word}".`,
      `${key.name}  ${key.value}`,
    ]
    return { json: key, text: lines.map(printable).join('\n') }
  },
}

export const siteDkimActivate: CliCommand = {
  name: 'site dkim activate',
  summary: 'Activate the pending key, once DNS has its record; the other one retires',
  words: ['DOMAIN'],
  options: [flagOption('--force', 'even if DNS does not have the record')],
  async run({ args, service }) {
    const path = sitePath(args.word, '/dkim/activate')
    const body = { force: args.flag('force') }
    const key = await service.portalAs(ShownKey, 'POST', path, { body })
    return {
      json: key,
      text: printable(`Mail of ${args.word} is signed with ${key.selector} now.`),
    }
  },
}
