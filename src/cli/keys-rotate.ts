import { Type } from '@sinclair/typebox'

import { type CliCommand, POOL_OPTION } from './command.ts'
import { sitePath } from './service-client.ts'
import { defined } from './site-options.ts'

const RotatedKeys = Type.Object({
  rotated: Type.Array(Type.Object({ userPoolId: Type.String(), kid: Type.String() })),
})

export const keysRotate: CliCommand = {
  name: 'keys rotate',
  summary: 'Rotate the signing keys; tokens of the old ones stay valid until they expire',
  words: ['DOMAIN'],
  wordOption: 'site',
  options: [POOL_OPTION],
  async run({ args, service }) {
    const body = defined({ pool: args.text('pool') })
    const path = sitePath(args.word, '/keys/rotate')
    const { rotated } = await service.portalAs(RotatedKeys, 'POST', path, { body })
    return {
      json: { rotated },
      text: rotated.map(({ userPoolId, kid }) => `${userPoolId} signs with ${kid} now.`).join('\n'),
    }
  },
}
