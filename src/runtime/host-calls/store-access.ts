import { AppError } from '#base/app-error.ts'
import type { StoreGrant } from '#platform/sandbox-host/sandbox.ts'
import type { BucketAction } from '#runtime/buckets/answers.ts'
import type { TableAction } from '#runtime/tables/api/answers.ts'
import type { KeySchema } from '#runtime/tables/items/key-schema.ts'

import { everyFieldOf, readsBeyondKeys } from './condition-attributes.ts'

export type StoreAction = TableAction | BucketAction
type Access = StoreGrant['access']

/** What an action does to its store. */
const NEEDS = {
  get: 'read',
  query: 'read',
  scan: 'read',
  'batch-get': 'read',
  put: 'write',
  update: 'write',
  delete: 'write',
  'batch-write': 'write',
  'transact-write': 'write',
  'list-objects': 'read',
  'get-object': 'read',
  'presign-get-object': 'read',
  'put-object': 'write',
  'delete-object': 'write',
  'presign-put-object': 'write',
} as const satisfies Record<StoreAction, 'read' | 'write'>

const OLD_VALUES = ['returnValues', 'returnValuesOnConditionCheckFailure']

/**
 * The access that a grant must give. A write whose answer tells more of what was stored than that an item exists reads
 * as well. Conditions are judged by the table's keys, when it is known.
 */
export function neededAccess(action: StoreAction, input: unknown, schema?: KeySchema): Access {
  const tells = (write: unknown) =>
    asksForOld(write) || (schema !== undefined && readsBeyondKeys(schema, write))
  return NEEDS[action] === 'write' && writesOf(action, input).some(tells)
    ? 'readWrite'
    : NEEDS[action]
}

export const allows = (access: Access, needed: Access): boolean =>
  access === 'readWrite' || access === needed

export interface WantedStore {
  readonly functionName: string
  readonly type: StoreGrant['type']
  readonly name: string
  readonly needed: Access
}

/** The refusal of a store that a function was not granted. It says which grant to add; `resourceId` when there is such a store. */
export function notGranted(wanted: WantedStore, resourceId: string | undefined): AppError {
  const what = `Function "${wanted.functionName}" has no access to ${wordOf(wanted)}`
  const message =
    resourceId === undefined
      ? `${what}: the site has none of that name; create it, then add ${grantText('…', wanted.needed)} to the function's config.resources`
      : `${what}: add ${grantText(resourceId, wanted.needed)} to its config.resources`
  return new AppError('Forbidden', message)
}

export const notEnough = (wanted: WantedStore, grant: StoreGrant): AppError =>
  new AppError(
    'Forbidden',
    `Function "${wanted.functionName}" may only ${grant.access} ${wordOf(wanted)}: this needs ${grantText(grant.resourceId, wanted.needed === grant.access ? wanted.needed : 'readWrite')} in its config.resources`,
  )

const wordOf = ({ type, name }: WantedStore): string =>
  `${type === 'ddbTable' ? 'table' : 'bucket'} "${name.slice(0, 100)}"`

const grantText = (resourceId: string, access: Access): string =>
  JSON.stringify({ resourceId, access })

/** The objects that say what to write, and on what condition. */
function writesOf(action: StoreAction, input: unknown): readonly unknown[] {
  if (action !== 'transact-write') return [input]
  return everyFieldOf(input, 'actions')
    .flatMap((actions): readonly unknown[] => (Array.isArray(actions) ? actions : []))
    .flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
}

const asksForOld = (write: unknown): boolean =>
  OLD_VALUES.some((name) => everyFieldOf(write, name).some((asked) => asked !== 'NONE'))
