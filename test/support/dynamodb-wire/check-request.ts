import { AppError } from '#base/app-error.ts'
import { Expressions } from '#runtime/tables/expressions/expressions.ts'
import { keyTermsOf } from '#runtime/tables/expressions/key-condition.ts'

import { bindWire, type ExpressionParameter } from './expression-texts.ts'
import type { ItemRequest } from './item-request.ts'
import { checkConditions, checkExpectations } from './legacy-conditions.ts'
import { checkUpdates } from './legacy-updates.ts'
import { validationFault } from './wire-error.ts'
import { readWireItem, readWireValue } from './wire-value.ts'

export type WireItemAction = 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query' | 'Scan'

interface Parameters {
  readonly expressions: readonly ExpressionParameter[]
  readonly legacy: readonly (keyof ItemRequest)[]
}

/** In the order in which DynamoDB lists them when they are mixed. */
const PARAMETERS: Readonly<Record<WireItemAction, Parameters>> = {
  GetItem: { expressions: ['ProjectionExpression'], legacy: ['AttributesToGet'] },
  PutItem: { expressions: ['ConditionExpression'], legacy: ['Expected', 'ConditionalOperator'] },
  UpdateItem: {
    expressions: ['UpdateExpression', 'ConditionExpression'],
    legacy: ['AttributeUpdates', 'Expected', 'ConditionalOperator'],
  },
  DeleteItem: { expressions: ['ConditionExpression'], legacy: ['Expected', 'ConditionalOperator'] },
  Query: {
    expressions: ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
    legacy: ['AttributesToGet', 'QueryFilter', 'ConditionalOperator', 'KeyConditions'],
  },
  Scan: {
    expressions: ['ProjectionExpression', 'FilterExpression'],
    legacy: ['AttributesToGet', 'ScanFilter', 'ConditionalOperator'],
  },
}
const expressions = new Expressions()

/** Refuses all that DynamoDB refuses before it looks for the table. */
export function checkRequest(action: WireItemAction, request: ItemRequest): void {
  checkMixture(action, request)
  checkCombination(request)
  checkPresence(action, request)
  CHECKS[action](request)
}

/** The same for the part of a batch that is about one table. */
export function checkProjected(request: ItemRequest): void {
  checkMixture('GetItem', request)
  checkPresence('GetItem', request)
  checkAttributesToGet(request)
  bind('GetItem', request)
}

/** Of old, conditions were only combined where there were several. */
function checkCombination(request: ItemRequest): void {
  if (request.ConditionalOperator === undefined) return
  const conditions = request.Expected ?? request.QueryFilter ?? request.ScanFilter ?? {}
  const count = Object.keys(conditions).length
  if (count > 1) return
  throw validationFault(
    count === 0
      ? 'ConditionalOperator cannot be used without Filter or Expected'
      : 'ConditionalOperator can only be used when Filter or Expected has two or more elements',
  )
}

const CHECKS: Readonly<Record<WireItemAction, (request: ItemRequest) => void>> = {
  GetItem(request) {
    readWireItem(request.Key)
    checkAttributesToGet(request)
    bind('GetItem', request)
  },
  PutItem(request) {
    readWireItem(request.Item)
    checkReturnValues(request)
    checkExpectations(request.Expected)
    bind('PutItem', request)
  },
  UpdateItem(request) {
    readWireItem(request.Key)
    checkUpdates(request.AttributeUpdates)
    checkExpectations(request.Expected)
    bind('UpdateItem', request)
  },
  DeleteItem(request) {
    readWireItem(request.Key)
    checkReturnValues(request)
    checkExpectations(request.Expected)
    bind('DeleteItem', request)
  },
  Query(request) {
    checkConditions(request.QueryFilter)
    checkAttributesToGet(request)
    checkStartKey(request)
    if (request.KeyConditions === undefined && request.KeyConditionExpression === undefined) {
      throw validationFault(
        'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
      )
    }
    const bound = bind('Query', request)
    if (bound.keyCondition === undefined) checkKeyConditions(request)
    else keyTermsOf(bound.keyCondition)
  },
  Scan(request) {
    checkAttributesToGet(request)
    checkConditions(request.ScanFilter)
    checkStartKey(request)
    checkSegments(request)
    bind('Scan', request)
  },
}

function checkMixture(action: WireItemAction, request: ItemRequest): void {
  const { expressions: names, legacy } = PARAMETERS[action]
  const given = names.filter((name) => request[name] !== undefined)
  if (given.length === 0) return
  const onlyLegacyKeys =
    request.KeyConditions !== undefined && request.KeyConditionExpression === undefined
  const mixed = legacy.filter(
    (name) => request[name] !== undefined && !(onlyLegacyKeys && name === 'KeyConditions'),
  )
  if (mixed.length === 0) return
  throw validationFault(
    'Can not use both expression and non-expression parameters in the same request: ' +
      `Non-expression parameters: {${mixed.join(', ')}} Expression parameters: {${given.join(', ')}}`,
  )
}

function checkPresence(action: WireItemAction, request: ItemRequest): void {
  const names = PARAMETERS[action].expressions
  if (
    request.ExpressionAttributeNames !== undefined &&
    names.every((name) => request[name] === undefined)
  ) {
    throw validationFault('ExpressionAttributeNames can only be specified when using expressions')
  }
  const withValues = names.filter((name) => name !== 'ProjectionExpression')
  if (request.ExpressionAttributeValues === undefined || withValues.length === 0) return
  if (withValues.some((name) => request[name] !== undefined)) return
  throw validationFault(
    'ExpressionAttributeValues can only be specified when using expressions: ' +
      `${withValues.join(' and ')} ${withValues.length > 1 ? 'are' : 'is'} null`,
  )
}

function checkAttributesToGet({ AttributesToGet: names = [] }: ItemRequest): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice === undefined) return
  throw validationFault(
    `One or more parameter values were invalid: Duplicate value in attribute name: ${twice}`,
  )
}

function checkReturnValues({ ReturnValues: given }: ItemRequest): void {
  if (given === undefined || given === 'ALL_OLD' || given === 'NONE') return
  throw validationFault('ReturnValues can only be ALL_OLD or NONE')
}

/** Most faults of its values are said to be the key's. */
function checkStartKey({ ExclusiveStartKey: key = {} }: ItemRequest): void {
  for (const value of Object.values(key)) {
    try {
      readWireValue(value)
    } catch (fault) {
      if (!(fault instanceof AppError)) throw fault
      const isOfNumbers =
        /contains duplicates|number set|numeric value|significant digits|number with magnitude/.test(
          fault.message,
        )
      throw isOfNumbers
        ? fault
        : validationFault(`The provided starting key is invalid: ${fault.message}`)
    }
  }
}

function checkSegments({ Segment: segment, TotalSegments: total }: ItemRequest): void {
  if (segment !== undefined && total === undefined) {
    throw validationFault(
      'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
    )
  }
  if (total === undefined) return
  if (segment === undefined) {
    throw validationFault(
      'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
    )
  }
  if (segment < total) return
  throw validationFault(
    'The Segment parameter is zero-based and must be less than parameter TotalSegments: ' +
      `Segment: ${segment} is not less than TotalSegments: ${total}`,
  )
}

function checkKeyConditions({ KeyConditions: conditions = {} }: ItemRequest): void {
  checkConditions(conditions)
  const count = Object.keys(conditions).length
  if (count === 1 || count === 2) return
  throw validationFault('Conditions can be of length 1 or 2 only')
}

const bind = (action: WireItemAction, request: ItemRequest) =>
  bindWire(expressions, { ...request }, PARAMETERS[action].expressions)
