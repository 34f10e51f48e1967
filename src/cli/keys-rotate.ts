import { Type } from '@sinclair/typebox'

import type { Command } from './command.ts'
import { expectShape } from './shape.ts'
import { defined } from './site-options.ts'
import { sitePath } from './site-show.ts'
import { oneOf } from './token.ts'

const RotatedKeys = Type.Object({
  rotated: Type.Array(Type.Object({ userPoolId: Type.String(), kid: Type.String() })),
})

export const keysRotate: Command = {
  name: 'keys rotate',
  summary: 'New signing keys; tokens of the old ones stay valid until they expire',
  usage: '--site DOMAIN [--pool admin|data]',
  options: { site: { type: 'string' }, pool: { type: 'string' } },
  async run({ args, service }) {
    const body = defined({ pool: oneOf('pool', args.text('pool'), ['admin', 'data']) })
    const path = sitePath(args.required('site'), '/keys/rotate')
    const { rotated } = expectShape(RotatedKeys, await service.portal('POST', path, { body }))
    return {
      json: { rotated },
      text: rotated.map(({ userPoolId, kid }) => `${userPoolId} signs with ${kid} now.`).join('\n'),
    }
  },
}
