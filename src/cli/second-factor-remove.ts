import { printable } from './columns.ts'
import { type CliCommand, POOL_OPTION, requiredOption } from './command.ts'
import { sitePath } from './service-client.ts'

export const secondFactorRemove: CliCommand = {
  name: 'second-factor remove',
  summary:
    'Remove the authenticator app of an account whose owner has lost it; check who they are first',
  words: ['DOMAIN'],
  options: [requiredOption('--user <email>', 'whose'), POOL_OPTION],
  async run({ args, service }) {
    const user = args.required('user')
    const pool = args.text('pool') ?? 'data'
    const query = new URLSearchParams({ user, pool }).toString()
    await service.portal('DELETE', `${sitePath(args.word, '/second-factor')}?${query}`)
    return {
      json: { user, pool, secondFactor: null },
      text: `${printable(user)} has no authenticator app: the password alone signs in until one is set up.`,
    }
  },
}
