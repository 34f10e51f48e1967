import { readFile } from 'node:fs/promises'

import { Type } from '@sinclair/typebox'

import { ProviderRecord } from '#identity/federation/model.ts'

import { columns } from './columns.ts'
import {
  type Arguments,
  type CliCommand,
  type CommandResult,
  flagOption,
  listOption,
  textOption,
} from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'
import { defined } from './site-options.ts'

const ProviderList = Type.Object({ items: Type.Array(ProviderRecord), nextToken: Type.Null() })

export const authGoogle: CliCommand = {
  name: 'auth google',
  summary:
    'Configure sign-in with Google, or any OpenID provider, for a site’s visitors; options that are left out change nothing',
  words: ['DOMAIN'],
  options: [
    textOption('--client-id <id>', 'what the provider calls this client'),
    // A secret among the arguments would be in the process list, and in the shell's history.
    textOption('--client-secret-file <file>', 'the file that holds the client’s secret'),
    textOption('--issuer <url>', 'another OpenID provider than Google'),
    listOption('--scope <scope>', 'what to request from the provider'),
    flagOption('--enable', 'offer it'),
    flagOption('--disable', 'stop offering it'),
    flagOption('--remove', 'remove the provider'),
  ],
  async run({ args, service }) {
    const domain = args.word
    const path = sitePath(domain, '/auth/providers')
    const change = await changeOf(args)
    if (args.flag('remove')) {
      if (Object.keys(change).length > 0) throw new UsageError('--remove excludes other options')
      await service.portal('DELETE', `${path}/google`)
      return { json: { removed: 'Google' }, text: `${domain} has no Google any more.` }
    }
    if (Object.keys(change).length === 0) {
      const { items } = await service.portalAs(ProviderList, 'GET', path)
      const [google] = items
      return google ? shown(google) : { json: null, text: `${domain} has no Google.` }
    }
    return shown(await service.portalAs(ProviderRecord, 'PUT', `${path}/google`, { body: change }))
  },
}

async function changeOf(args: Arguments): Promise<Record<string, unknown>> {
  const [enable, disable] = [args.flag('enable'), args.flag('disable')]
  if (enable && disable) throw new UsageError('--enable and --disable exclude each other')
  const file = args.text('clientSecretFile')
  return defined({
    clientId: args.text('clientId'),
    clientSecret: file === undefined ? undefined : await secretIn(file),
    issuer: args.text('issuer'),
    scopes: args.list('scope'),
    enabled: enable || disable ? enable : undefined,
  })
}

async function secretIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CommandError(`the file "${file}" cannot be read`, { cause })
  })
  return text.trim()
}

const shown = (google: ProviderRecord): CommandResult => ({
  json: google,
  text: columns([
    ['Google', google.enabled ? 'on' : 'off'],
    ['issuer', google.issuer],
    ['client', google.clientId],
    ['scopes', google.scopes.join(' ')],
    ['register there as redirect URI', google.redirectUri],
  ]),
})
