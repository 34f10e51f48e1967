import { DefinedOperation } from '#runtime/definitions/sections/operations.ts'
import { AuthInput, CacheInput } from '#runtime/operations/model.ts'
import { PresetInput } from '#runtime/operations/preset-binding.ts'
import { PRESET_NAMES } from '#runtime/operations/presets.ts'
import { SiteName } from '#runtime/shape.ts'

import { described, plain, type JsonSchema } from './described.ts'
import { renamable } from './other-sections.ts'

const { fixed, allowed, owner } = PresetInput.properties
const [, ofAttribute, ofPrefix] = owner.anyOf

const AUTH = described(AuthInput, 'Who may call the operation.', {
  mode: '"public": everyone; "authenticated" (default): who has signed in; "groups": members.',
  groups: 'In mode "groups": names of groups, of which one suffices.',
  scopes: 'Scopes that the access token must have been granted, all of them.',
})

const JSON_SCHEMA: JsonSchema = { type: ['object', 'boolean', 'null'] }

const OBJECT = described(
  DefinedOperation,
  'An operation: a name that a function or a preset answers.',
  {
    operation: {
      description: 'Name below "/data". "auth" and "public" are reserved.',
      ...plain(SiteName),
      not: { enum: ['auth', 'public'] },
    },
    lambdaResource: 'Name of the function that answers; or give "preset".',
    preset: {
      description:
        'The action on a table or bucket that answers without code; or give "lambdaResource".',
      type: 'string',
      enum: PRESET_NAMES,
    },
    resource: 'Name of the table or bucket of the preset.',
    fixed: {
      description: 'Fields of the request that callers cannot change.',
      ...plain(fixed),
    },
    allowed: { description: 'Fields that callers may send.', ...plain(allowed) },
    owner: {
      description:
        'Callers reach their own only: items whose attribute holds their "sub", or objects below their own prefix.',
      anyOf: [
        { const: true },
        described(ofAttribute, 'Of a table.', {
          attribute: 'Attribute that holds the "sub" of the caller.',
        }),
        described(ofPrefix, 'Of a bucket.', { prefix: 'Folder of the folders of callers.' }),
      ],
    },
    auth: {
      ...AUTH,
      if: { properties: { mode: { const: 'groups' } }, required: ['mode'] },
      // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's own word
      then: { required: ['groups'] },
      else: { not: { required: ['groups'] } },
    },
    cache: described(CacheInput, 'How long answers are kept.', {
      ttlSeconds: 'Seconds, up to 3600; 0 keeps nothing.',
    }),
    http: 'Whether the function answers HTTP itself, with its own status and headers.',
    input: { description: 'JSON Schema of the payloads.', ...JSON_SCHEMA },
    output: { description: 'JSON Schema of the results; only of functions.', ...JSON_SCHEMA },
  },
)

export const OPERATION: JsonSchema = {
  ...renamable(OBJECT),
  oneOf: [{ required: ['lambdaResource'] }, { required: ['preset'] }],
  dependencies: Object.fromEntries(
    ['resource', 'fixed', 'allowed', 'owner'].map((name) => [name, ['preset']]),
  ),
}
