import { Type } from '@sinclair/typebox'

import type { Command } from './command.ts'
import { UsageError } from './faults.ts'
import { expectShape } from './shape.ts'
import { defined } from './site-options.ts'
import { sitePath } from './site-show.ts'

const MintedToken = Type.Object({ token: Type.String(), expiresAt: Type.String() })

export const token: Command = {
  name: 'token',
  summary: 'A token of a site’s user, without a sign-in',
  usage: '--site DOMAIN --user EMAIL [--pool admin|data] [--use access|id] [--group GROUP]…',
  options: {
    site: { type: 'string' },
    user: { type: 'string' },
    pool: { type: 'string' },
    use: { type: 'string' },
    group: { type: 'string', multiple: true },
  },
  async run({ args, service }) {
    const body = {
      user: args.required('user'),
      ...defined({
        pool: oneOf('pool', args.text('pool'), ['admin', 'data']),
        use: oneOf('use', args.text('use'), ['access', 'id']),
        groups: args.list('group'),
      }),
    }
    const path = sitePath(args.required('site'), '/tokens')
    const minted = expectShape(MintedToken, await service.portal('POST', path, { body }))
    return { json: { token: minted.token, expiresAt: minted.expiresAt }, text: minted.token }
  },
}

/** The value when it is one of those that the option takes. */
export function oneOf(
  option: string,
  value: string | undefined,
  allowed: readonly string[],
): string | undefined {
  if (value === undefined || allowed.includes(value)) return value
  throw new UsageError(`--${option} is ${allowed.join(' or ')}, not "${value}"`)
}
