import { CreatedCredential, CredentialList } from '#mail/submission/model.ts'

import { columns, printable } from './columns.ts'
import { type Arguments, type CliCommand, textOption } from './command.ts'
import { UsageError } from './errors.ts'
import { namedAddress } from './mail-address.ts'

export const mailboxCredentialCreate: CliCommand = {
  name: 'mailbox credential create',
  summary: 'Create a password with which a mail program sends from a mailbox; it is shown once',
  words: ['ADDRESS'],
  options: [textOption('--name <text>', 'what it is for, like "Thunderbird at home"')],
  async run({ args, service }) {
    const name = args.text('name')
    if (name === undefined) throw new UsageError('--name is missing')
    const path = credentialsPath(args)
    const made = await service.portalAs(CreatedCredential, 'POST', path, { body: { name } })
    const { server, username, password, credentialId } = made
    const rows = [
      ['server', `${server.host}, port ${server.port}, ${server.security}`],
      ['user name', username],
      ['password', password],
      ['id', credentialId],
    ]
    return { json: made, text: columns(rows.map((row) => row.map(printable))) }
  },
}

export const mailboxCredentialList: CliCommand = {
  name: 'mailbox credential list',
  summary: 'List the credentials of mail programs that send from a mailbox, without the passwords',
  words: ['ADDRESS'],
  options: [],
  async run({ args, service }) {
    const list = await service.portalAs(CredentialList, 'GET', credentialsPath(args))
    const rows = list.items.map(({ credentialId, name, createdAt, lastUsedAt }) =>
      [
        credentialId,
        name,
        `since ${createdAt}`,
        lastUsedAt === null ? 'never used' : `used ${lastUsedAt}`,
      ].map(printable),
    )
    return {
      json: list,
      text: rows.length === 0 ? 'None yet: croft mailbox credential create' : columns(rows),
    }
  },
}

export const mailboxCredentialDelete: CliCommand = {
  name: 'mailbox credential delete',
  summary: 'Delete a password of a mailbox',
  words: ['ADDRESS'],
  options: [textOption('--id <id>', 'as the list names it')],
  async run({ args, service }) {
    const credentialId = args.text('id')
    if (credentialId === undefined) throw new UsageError('--id is missing')
    await service.portal('DELETE', credentialsPath(args, `/${encodeURIComponent(credentialId)}`))
    return { json: { deleted: credentialId }, text: `Deleted ${credentialId}.` }
  },
}

const credentialsPath = (args: Arguments, rest = ''): string =>
  namedAddress(args).path('mailboxes', `/submission-credentials${rest}`)
