import { AppError } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'
import type { StoreGrant } from '#platform/sandbox-host/sandbox.ts'
import type { BucketAction } from '#runtime/buckets/answers.ts'
import type { TableAction } from '#runtime/tables/api/answers.ts'
import type { DocumentPath } from '#runtime/tables/expressions/document-path.ts'
import { ExpressionError } from '#runtime/tables/expressions/expression-error.ts'
import { parseCondition } from '#runtime/tables/expressions/parse-condition.ts'
import { pathsIn } from '#runtime/tables/expressions/syntax.ts'
import { type KeySchema, keyAttributes } from '#runtime/tables/items/key-schema.ts'

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

type Names = (placeholder: string) => readonly unknown[]

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

/**
 * Whether a condition of a write asks for more than whether the item exists: it names an attribute that is not of the
 * table's key, which the caller sends anyway.
 */
const readsBeyondKeys = (schema: KeySchema, write: unknown): boolean =>
  everyFieldOf(write, 'conditionExpression').some(
    (text) => typeof text === 'string' && namesBeyondKeys(schema, text, namesOf(write)),
  )

function namesBeyondKeys(schema: KeySchema, text: string, names: Names): boolean {
  const keys = new Set<unknown>(keyAttributes(schema).map(({ name }) => name))
  const isOfKey = ([first, ...inside]: DocumentPath): boolean => {
    if (inside.length > 0 || typeof first !== 'string') return false
    const meant = first.startsWith('#') ? names(first) : [first]
    return meant.every((name) => keys.has(name))
  }
  return pathsOf(text).some((path) => !isOfKey(path))
}

/** None of a text that is no condition: its action refuses it before it looks at anything. */
function pathsOf(text: string): readonly DocumentPath[] {
  try {
    return pathsIn(parseCondition(text))
  } catch (error) {
    if (error instanceof ExpressionError) return []
    throw error
  }
}

/** What a placeholder may stand for, in either spelling of the field. */
const namesOf =
  (write: unknown): Names =>
  (placeholder) =>
    everyFieldOf(write, 'expressionAttributeNames').flatMap((names) =>
      isJsonObject(names) && Object.hasOwn(names, placeholder) ? [names[placeholder]] : [],
    )

/** What is under that name, read in camelCase and in PascalCase: null is the same as nothing. */
function everyFieldOf(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const fields = new Map<string, unknown>(Object.entries(value))
  return [name, name.charAt(0).toUpperCase() + name.slice(1)].flatMap((spelled) => {
    const found = fields.get(spelled) ?? null
    return found === null ? [] : [found]
  })
}
