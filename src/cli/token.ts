import { Type } from '@sinclair/typebox'

import {
  type CliCommand,
  POOL_OPTION,
  choiceOption,
  listOption,
  requiredOption,
} from './command.ts'
import { sitePath } from './service-client.ts'
import { defined } from './site-options.ts'

const MintedToken = Type.Object({ token: Type.String(), expiresAt: Type.String() })

export const token: CliCommand = {
  name: 'token',
  summary: 'Create a token of a site’s user, without a sign-in',
  words: ['DOMAIN'],
  wordOption: 'site',
  options: [
    requiredOption('--user <email>', 'whose token'),
    POOL_OPTION,
    choiceOption('--use <use>', ['access', 'id'], 'what kind of token'),
    listOption('--group <group>', 'a group that the token names'),
  ],
  async run({ args, service }) {
    const body = {
      user: args.required('user'),
      ...defined({
        pool: args.text('pool'),
        use: args.text('use'),
        groups: args.list('group'),
      }),
    }
    const path = sitePath(args.word, '/tokens')
    const minted = await service.portalAs(MintedToken, 'POST', path, { body })
    return { json: { token: minted.token, expiresAt: minted.expiresAt }, text: minted.token }
  },
}
