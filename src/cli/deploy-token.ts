import { Type } from '@sinclair/typebox'

import { CreatedDeployToken, DeployTokenRecord } from '#identity/deploy-tokens/model.ts'

import { columns, printable } from './columns.ts'
import { type CliCommand, listOption, requiredOption, textOption } from './command.ts'
import { UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'
import { defined } from './site-options.ts'

const Listed = Type.Object({ items: Type.Array(DeployTokenRecord) })

export const deployTokenCreate: CliCommand = {
  name: 'deploy-token create',
  summary: 'Create a secret with which CI deploys one site; it is shown once',
  words: ['DOMAIN'],
  options: [
    requiredOption('--name <text>', 'what it is for, like "GitHub Actions"'),
    listOption('--scope <scope>', 'deploy (the default), logs or iac'),
    textOption('--expires-in-days <days>', 'when it expires; never by default'),
  ],
  async run({ args, service }) {
    const days = args.text('expiresInDays')
    if (days !== undefined && !/^\d{1,5}$/.test(days)) {
      throw new UsageError(`--expires-in-days is a whole number, not "${days}"`)
    }
    const body = {
      name: args.required('name'),
      ...defined({
        scopes: args.list('scope'),
        expiresInDays: days === undefined ? undefined : Number(days),
      }),
    }
    const path = sitePath(args.word, '/deploy-tokens')
    const made = await service.portalAs(CreatedDeployToken, 'POST', path, { body })
    const rows = [
      ['token', made.token],
      ['scopes', made.scopes.join(' ')],
      ['ends', made.expiresAt ?? `with: croft deploy-token end ${args.word} --id ${made.tokenId}`],
      ['id', made.tokenId],
    ]
    return { json: made, text: columns(rows.map((row) => row.map(printable))) }
  },
}

export const deployTokenList: CliCommand = {
  name: 'deploy-token list',
  summary: 'List the deploy tokens of a site, without the secrets',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const list = await service.portalAs(Listed, 'GET', sitePath(args.word, '/deploy-tokens'))
    const rows = list.items.map(({ tokenId, name, scopes, createdBy, expiresAt, lastUsedAt }) =>
      [
        tokenId,
        name,
        scopes.join(' '),
        `by ${createdBy}`,
        expiresAt === null ? 'does not end' : `ends ${expiresAt}`,
        lastUsedAt === null ? 'never used' : `used ${lastUsedAt}`,
      ].map(printable),
    )
    return {
      json: list,
      text: rows.length === 0 ? 'None yet: croft deploy-token create' : columns(rows),
    }
  },
}

export const deployTokenEnd: CliCommand = {
  name: 'deploy-token end',
  summary: 'Revoke a deploy token',
  words: ['DOMAIN'],
  options: [requiredOption('--id <id>', 'as the list names it')],
  async run({ args, service }) {
    const tokenId = args.required('id')
    const path = sitePath(args.word, `/deploy-tokens/${encodeURIComponent(tokenId)}`)
    await service.portal('DELETE', path)
    return { json: { ended: tokenId }, text: `Ended ${tokenId}.` }
  },
}
