import { Type } from '@sinclair/typebox'

import {
  NewlyRegisteredClient,
  type PublicKeys,
  RegisteredClient,
} from '#identity/client-registrations/model.ts'

import { columns, printable } from './columns.ts'
import {
  type Arguments,
  type CliCommand,
  choiceOption,
  listOption,
  requiredOption,
  textOption,
} from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import { namedFile } from './named-file.ts'
import { pictureOption } from './picture-option.ts'
import { sitePath } from './service-client.ts'
import { defined, orNone } from './site-options.ts'

const Listed = Type.Object({ items: Type.Array(RegisteredClient) })

const FIELDS = [
  listOption('--redirect-uri <uri>', 'where a sign-in may return to'),
  listOption('--logout-uri <uri>', 'where a sign-out may return to'),
  choiceOption(
    '--third-party <on|off>',
    ['on', 'off'],
    'it belongs to a third party: people are asked for consent',
  ),
  choiceOption('--access-token-format <format>', ['cognito', 'rfc9068'], 'cognito, or rfc9068'),
  textOption('--privacy-uri <uri>', 'its privacy policy, or none'),
  textOption('--logo <file>', 'a PNG, JPEG or WebP picture of 32 KiB at most, or none'),
  textOption('--jwks <file>', 'its public keys, for private_key_jwt'),
]

export const clientRegister: CliCommand = {
  name: 'client register',
  summary: 'Register another application that signs people in; its secret is shown once',
  words: ['DOMAIN'],
  options: [
    requiredOption('--name <text>', 'the name that people see, like "Acme Helpdesk"'),
    choiceOption(
      '--pool <pool>',
      ['admin', 'data'],
      'the pool that it signs people in to: data by default',
    ),
    choiceOption(
      '--authentication <method>',
      ['client_secret', 'private_key_jwt', 'none'],
      'client_secret by default; none for apps that keep no secret',
    ),
    ...FIELDS,
  ],
  async run({ args, service }) {
    const body = {
      name: args.required('name'),
      ...defined({ pool: args.text('pool'), authentication: args.text('authentication') }),
      ...(await fieldsOf(args)),
    }
    const path = sitePath(args.word, '/clients')
    const made = await service.portalAs(NewlyRegisteredClient, 'POST', path, { body })
    return { json: made, text: newText(made) }
  },
}

export const clientList: CliCommand = {
  name: 'client list',
  summary: 'List the applications beside the site’s own, without their secrets',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const list = await service.portalAs(Listed, 'GET', sitePath(args.word, '/clients'))
    const rows = list.items.map((client) =>
      [
        client.clientId,
        client.name,
        client.pool,
        client.authentication,
        client.isThirdParty ? 'third party' : 'first party',
        client.redirectUris.join(' '),
      ].map(printable),
    )
    return {
      json: list,
      text: rows.length === 0 ? 'None yet: croft client register' : columns(rows),
    }
  },
}

export const clientChange: CliCommand = {
  name: 'client change',
  summary:
    'Change settings of a client; options that are left out change nothing, a list of URIs is replaced',
  words: ['DOMAIN'],
  options: [
    requiredOption('--id <id>', 'as the list names it'),
    textOption('--name <text>', 'the name that people see'),
    ...FIELDS,
  ],
  async run({ args, service }) {
    const body = { ...defined({ name: args.text('name') }), ...(await fieldsOf(args)) }
    if (Object.keys(body).length === 0) throw new UsageError('say what to change')
    const path = clientPath(args)
    const changed = await service.portalAs(RegisteredClient, 'PATCH', path, { body })
    return { json: changed, text: columns(rowsOf(changed)) }
  },
}

export const clientSecret: CliCommand = {
  name: 'client secret',
  summary: 'Create a new secret for a client, shown once; the former one stays valid for a day',
  words: ['DOMAIN'],
  options: [
    requiredOption('--id <id>', 'as the list names it'),
    textOption('--keep-former-hours <number>', '0 to 168; 0 ends the former one at once'),
  ],
  async run({ args, service }) {
    const hours = args.text('keepFormerHours')
    if (hours !== undefined && !/^\d{1,3}$/.test(hours)) {
      throw new UsageError(`--keep-former-hours is a whole number, not "${hours}"`)
    }
    const body = hours === undefined ? {} : { keepFormerHours: Number(hours) }
    const path = `${clientPath(args)}/secret`
    const made = await service.portalAs(NewlyRegisteredClient, 'POST', path, { body })
    return { json: made, text: newText(made) }
  },
}

export const clientRemove: CliCommand = {
  name: 'client remove',
  summary: 'Remove a client, and end its sign-ins',
  words: ['DOMAIN'],
  options: [requiredOption('--id <id>', 'as the list names it')],
  async run({ args, service }) {
    await service.portal('DELETE', clientPath(args))
    const clientId = args.required('id')
    return { json: { removed: clientId }, text: `Removed ${clientId}.` }
  },
}

const clientPath = (args: Arguments): string =>
  sitePath(args.word, `/clients/${encodeURIComponent(args.required('id'))}`)

async function fieldsOf(args: Arguments): Promise<Record<string, unknown>> {
  const [jwks, thirdParty] = [args.text('jwks'), args.text('thirdParty')]
  return defined({
    redirectUris: args.list('redirectUri'),
    logoutUris: args.list('logoutUri'),
    isThirdParty: thirdParty === undefined ? undefined : thirdParty === 'on',
    accessTokenFormat: args.text('accessTokenFormat'),
    privacyUri: orNone(args.text('privacyUri')),
    logo: await pictureOption(args.text('logo')),
    jwks: jwks === undefined ? undefined : keysOf(jwks, await namedFile(jwks)),
  })
}

function keysOf(path: string, bytes: Buffer): PublicKeys {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new CommandError(`"${path}" is no JSON: it takes a key set such as {"keys":[…]}`)
  }
}

const newText = (made: NewlyRegisteredClient): string =>
  columns([
    ...(made.clientSecret === null ? [] : [['client secret', made.clientSecret]]),
    ...rowsOf(made),
  ])

const rowsOf = (client: RegisteredClient): string[][] =>
  [
    ['client id', client.clientId],
    ['name', client.name],
    ['issuer', client.issuer],
    ['pool', client.pool],
    ['authentication', client.authentication],
    ['redirect URIs', client.redirectUris.join(' ')],
    ['logout URIs', client.logoutUris.join(' ') || 'none'],
    ['third party', client.isThirdParty ? 'yes: people are asked' : 'no'],
    ...(client.privacyUri === null ? [] : [['privacy policy', client.privacyUri]]),
    ...(client.formerSecretEndsAt === null
      ? []
      : [['former secret ends', client.formerSecretEndsAt]]),
  ].map((row) => row.map(printable))
