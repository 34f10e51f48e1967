import { Type } from '@sinclair/typebox'

import { type CliCommand, POOL_OPTION, SITE_OPTION } from './command.ts'
import { expectShape } from './shape.ts'
import { defined } from './site-options.ts'
import { sitePath } from './site-show.ts'

const RotatedKeys = Type.Object({
  rotated: Type.Array(Type.Object({ userPoolId: Type.String(), kid: Type.String() })),
})

export const keysRotate: CliCommand = {
  name: 'keys rotate',
  summary: 'New signing keys; tokens of the old ones stay valid until they expire',
  options: [SITE_OPTION, POOL_OPTION],
  async run({ args, service }) {
    const body = defined({ pool: args.text('pool') })
    const path = sitePath(args.required('site'), '/keys/rotate')
    const { rotated } = expectShape(RotatedKeys, await service.portal('POST', path, { body }))
    return {
      json: { rotated },
      text: rotated.map(({ userPoolId, kid }) => `${userPoolId} signs with ${kid} now.`).join('\n'),
    }
  },
}
