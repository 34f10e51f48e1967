import type { ParameterRules } from './parameters.ts'

/** In the order in which DynamoDB reports their faults. */
const RETURN_CONSUMED_CAPACITY = {
  ReturnConsumedCapacity: { type: 'String', oneOf: ['INDEXES', 'TOTAL', 'NONE'] },
} as const satisfies ParameterRules
const RETURN_VALUES = {
  ReturnValues: {
    type: 'String',
    oneOf: ['ALL_NEW', 'UPDATED_OLD', 'ALL_OLD', 'NONE', 'UPDATED_NEW'],
  },
} as const satisfies ParameterRules
const METRICS = {
  ReturnItemCollectionMetrics: { type: 'String', oneOf: ['SIZE', 'NONE'] },
} as const satisfies ParameterRules
const ON_FAILURE = {
  ReturnValuesOnConditionCheckFailure: { type: 'String', oneOf: ['ALL_OLD', 'NONE'] },
} as const satisfies ParameterRules
const KEY = { Key: { type: 'Map', required: true } } as const satisfies ParameterRules
const NAMES = {
  ExpressionAttributeNames: { type: 'Map', of: 'String' },
} as const satisfies ParameterRules
const SUBSTITUTES = {
  ExpressionAttributeValues: { type: 'Map' },
  ...NAMES,
} as const satisfies ParameterRules
const SELECT = {
  Select: {
    type: 'String',
    oneOf: ['SPECIFIC_ATTRIBUTES', 'COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES'],
  },
  IndexName: { type: 'String', pattern: '[a-zA-Z0-9_.-]+', lengths: [3, 255] },
} as const satisfies ParameterRules
const LIMIT = { Limit: { type: 'Integer', from: 1 } } as const satisfies ParameterRules
const EXPRESSION = { type: 'String' } as const

const PAGE = {
  ExclusiveStartKey: { type: 'Map' },
  ConsistentRead: { type: 'Boolean' },
} as const satisfies ParameterRules

export const GET_ITEM: ParameterRules = {
  ...RETURN_CONSUMED_CAPACITY,
  ...KEY,
  ConsistentRead: { type: 'Boolean' },
  ProjectionExpression: EXPRESSION,
  ...NAMES,
}

export const PUT_ITEM: ParameterRules = {
  ...RETURN_CONSUMED_CAPACITY,
  Item: { type: 'Map', required: true },
  ...RETURN_VALUES,
  ...METRICS,
  ...ON_FAILURE,
  ConditionExpression: EXPRESSION,
  ...SUBSTITUTES,
}

export const UPDATE_ITEM: ParameterRules = {
  ...RETURN_CONSUMED_CAPACITY,
  ...METRICS,
  ...RETURN_VALUES,
  ...KEY,
  ...ON_FAILURE,
  ConditionExpression: EXPRESSION,
  UpdateExpression: EXPRESSION,
  ...SUBSTITUTES,
}

export const DELETE_ITEM: ParameterRules = {
  ...RETURN_CONSUMED_CAPACITY,
  ...RETURN_VALUES,
  ...METRICS,
  ...KEY,
  ...ON_FAILURE,
  ConditionExpression: EXPRESSION,
  ...SUBSTITUTES,
}

export const QUERY: ParameterRules = {
  ...SELECT,
  ...RETURN_CONSUMED_CAPACITY,
  ...LIMIT,
  ...PAGE,
  ScanIndexForward: { type: 'Boolean' },
  KeyConditionExpression: EXPRESSION,
  FilterExpression: EXPRESSION,
  ProjectionExpression: EXPRESSION,
  ...SUBSTITUTES,
}

export const SCAN: ParameterRules = {
  ...SELECT,
  TotalSegments: { type: 'Integer', from: 1, to: 1_000_000 },
  ...RETURN_CONSUMED_CAPACITY,
  Segment: { type: 'Integer', from: 0, to: 999_999 },
  ...LIMIT,
  ...PAGE,
  FilterExpression: EXPRESSION,
  ProjectionExpression: EXPRESSION,
  ...SUBSTITUTES,
}
