import type { BucketAction } from '#runtime/buckets/answers.ts'
import { ACTION_FIELDS } from '#runtime/tables/api/action-fields.ts'
import type { FieldRule } from '#runtime/tables/api/field-rules.ts'

import { BUCKET_FIELDS } from './bucket-fields.ts'

type TablePresetAction = 'get' | 'query' | 'scan' | 'put' | 'update' | 'delete'

/** Operations that answer without site code. */
export type PresetName = 'echo' | `ddb.${TablePresetAction}` | `s3.${BucketAction}`

/** What a preset does with its table or bucket. */
export type Preset = TablePreset | BucketPreset

export interface TablePreset extends PresetFields {
  readonly store: 'ddbTable'
  readonly action: TablePresetAction
}

export interface BucketPreset extends PresetFields {
  readonly store: 's3Bucket'
  readonly action: BucketAction
}

interface PresetFields {
  /** Every field of the action's input, with what is wrong with its value. */
  readonly fields: ReadonlyMap<string, FieldRule>
  /** The fields that the action cannot do without. */
  readonly required: readonly string[]
  /** The fields that callers may send when the binding does not say. */
  readonly basic: readonly string[]
  /** What they may send instead where the binding neither says nor fixes the expression that the action needs. */
  readonly open?: readonly string[]
  /** Whether the same question may be answered from what was kept. */
  readonly cacheable: boolean
}

const table = (
  action: TablePresetAction,
  basic: readonly string[],
  rest: {
    readonly required?: readonly string[]
    readonly open?: readonly string[]
    readonly cacheable: boolean
  },
): TablePreset => {
  const { required, optional } = ACTION_FIELDS[action]
  const fields = new Map<string, FieldRule>(Object.entries({ ...required, ...optional }))
  return { store: 'ddbTable', action, fields, required: Object.keys(required), basic, ...rest }
}

const bucket = (
  action: BucketAction,
  rest: { readonly required: readonly string[]; readonly cacheable: boolean },
): BucketPreset => {
  const fields = new Map<string, FieldRule>(Object.entries(BUCKET_FIELDS[action]))
  const basic = [...fields.keys()].filter((name) => name !== 'expiresInSeconds')
  return { store: 's3Bucket', action, fields, basic, ...rest }
}

const READ = { cacheable: true }
const WRITE = { cacheable: false }
const KEY = { required: ['key'] }
const QUERY = [
  'keyConditionExpression',
  'filterExpression',
  'projectionExpression',
  'indexName',
  'limit',
  'scanIndexForward',
  'select',
  'exclusiveStartKey',
  'nextToken',
]
const UPDATE = ['key', 'updateExpression', 'conditionExpression', 'returnValues']

/** What names one thing, or turns a page, is a caller's to say; what decides which things are reached is not. */
const PRESETS: ReadonlyMap<string, Preset> = new Map<string, Preset>([
  ['ddb.get', table('get', ['key', 'projectionExpression', 'consistentRead'], READ)],
  [
    'ddb.query',
    table('query', ['limit', 'scanIndexForward', 'nextToken'], { open: QUERY, ...READ }),
  ],
  ['ddb.scan', table('scan', ['limit', 'nextToken'], READ)],
  ['ddb.put', table('put', ['item'], WRITE)],
  [
    'ddb.update',
    table('update', ['key'], { required: UPDATE.slice(0, 2), open: UPDATE, ...WRITE }),
  ],
  ['ddb.delete', table('delete', ['key'], WRITE)],
  ['s3.list-objects', bucket('list-objects', { required: [], ...READ })],
  ['s3.get-object', bucket('get-object', { ...KEY, ...READ })],
  ['s3.put-object', bucket('put-object', { required: ['key', 'body'], ...WRITE })],
  ['s3.delete-object', bucket('delete-object', { ...KEY, ...WRITE })],
  // A kept URL would be near its end when it is handed out.
  ['s3.presign-get-object', bucket('presign-get-object', { ...KEY, ...WRITE })],
  ['s3.presign-put-object', bucket('presign-put-object', { ...KEY, ...WRITE })],
])

/** Undefined for `echo`, which works on nothing, and for what is no preset. */
export const presetOf = (name: string): Preset | undefined => PRESETS.get(name)

export const isPresetName = (name: string): name is PresetName =>
  name === 'echo' || PRESETS.has(name)

export const PRESET_NAMES: readonly string[] = ['echo', ...PRESETS.keys()]
