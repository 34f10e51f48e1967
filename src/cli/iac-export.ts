import { Type } from '@sinclair/typebox'

import { type CliCommand, SITE_OPTION } from './command.ts'
import { expectShape } from './shape.ts'
import { sitePath } from './site-show.ts'

const Definition = Type.Record(Type.String(), Type.Array(Type.Unknown()))

export const iacExport: CliCommand = {
  name: 'iac export',
  summary: 'What a site is made of, as a croft.json; secrets are named without their values',
  options: [SITE_OPTION],
  async run({ args, service }) {
    const path = sitePath(args.required('site'), '/iac/export')
    const definition = expectShape(Definition, await service.portal('GET', path))
    return { json: definition, text: JSON.stringify(definition, null, 2) }
  },
}
