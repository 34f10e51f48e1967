import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'

import type { Answer, TableRequest } from './answer.ts'
import { type Difference, differencesOf } from './known-differences.ts'

/** The difference that the answers to a write of this item show: of its condition when it failed for just one of them. */
export function differenceOfWrites(
  { update, condition }: BoundExpressions,
  before: Item | undefined,
  { ours, theirs }: { readonly ours: Answer; readonly theirs: Answer },
): Difference | undefined {
  const failed = [ours, theirs].filter(isConditionFailure).length
  if (failed === 1) return condition && differencesOf({ condition }, [before])[0]
  if (failed === 2 || update === undefined) return undefined
  return differencesOf({ update }, [before]).find((each) =>
    each === 'remove-from-nothing'
      ? ours.ok && isUpdateFault(theirs)
      : [ours, theirs].every((answer) => answer.ok || isUpdateFault(answer)),
  )
}

const isConditionFailure = (answer: Answer): boolean =>
  !answer.ok && answer.type === 'ConditionalCheckFailedException'

/** What an update expression cannot do to the item that it finds. */
const isUpdateFault = (answer: Answer): boolean =>
  !answer.ok &&
  /document path provided in the update|incorrect data type|does not exist in the item/.test(
    answer.message,
  )

/** How the two answers to a request about a table's items are known to differ. */
export function differenceOfActions(
  request: TableRequest,
  ours: Answer,
  theirs: Answer,
): Difference | undefined {
  return ACTION_DIFFERENCES.find(([, shows]) => shows(request, ours, theirs))?.[0]
}

type ActionDifference = (request: TableRequest, ours: Answer, theirs: Answer) => boolean

/** How something that is no boolean is refused where one is read. */
const BOOLEAN_FAULT =
  /^(?:Unexpected token received from parser|Start of structure or map found .*|.* cannot be converted to Boolean|Unrecognized collection type class java\.lang\.Boolean)$/

/** What dynalite says of a key condition in words of its own, or before it looks for what else is wrong. */
const KEY_CONDITION_FAULT =
  /^(?:Conditions can be of length 1 or 2 only|KeyConditionExpressions must only contain one condition per key|.* ComparisonOperator EQ is not valid for \w+ AttributeValue type)$/

const ACTION_DIFFERENCES: readonly (readonly [Difference, ActionDifference])[] = [
  [
    'empty-lookup-key',
    (_request, ours, theirs) =>
      !ours.ok &&
      !theirs.ok &&
      ours.message ===
        theirs.message.replace(
          /were invalid: (?=The AttributeValue for a key attribute cannot contain an empty)/,
          'are not valid. ',
        ),
  ],
  [
    'key-conditions',
    ({ action, body }, ours, theirs) =>
      action === 'Query' &&
      body['KeyConditionExpression'] !== undefined &&
      !ours.ok &&
      !theirs.ok &&
      KEY_CONDITION_FAULT.test(theirs.message),
  ],
  [
    'empty-index-key',
    (_request, ours, theirs) =>
      !ours.ok &&
      /secondary index key .* cannot contain an empty/.test(ours.message) &&
      (theirs.ok || theirs.type === 'ConditionalCheckFailedException'),
  ],
  [
    'select',
    ({ body }, ours) =>
      body['Select'] !== undefined &&
      !ours.ok &&
      /when choosing to get|ALL_PROJECTED_ATTRIBUTES can be used only/.test(ours.message),
  ],
  [
    'consistent-scan',
    ({ action, body }, ours) =>
      action === 'Scan' &&
      body['ConsistentRead'] === true &&
      !ours.ok &&
      ours.message === 'Consistent reads are not supported on global secondary indexes',
  ],
  [
    'consistent-scan',
    ({ action, body }, ours, theirs) =>
      action === 'Scan' &&
      body['ConsistentRead'] !== undefined &&
      typeof body['ConsistentRead'] !== 'boolean' &&
      !ours.ok &&
      BOOLEAN_FAULT.test(ours.message) &&
      (theirs.ok || theirs.type !== 'SerializationException'),
  ],
  [
    'delete-return-values',
    ({ action }, ours) =>
      action === 'DeleteItem' &&
      !ours.ok &&
      ours.message === 'ReturnValues can only be ALL_OLD or NONE',
  ],
  [
    'empty-attributes',
    (_request, ours, theirs) =>
      ours.ok &&
      theirs.ok &&
      JSON.stringify(theirs.body) === '{"Attributes":{}}' &&
      JSON.stringify(ours.body) === '{}',
  ],
  [
    'segment-zero',
    ({ body }, ours) =>
      body['Segment'] === 0 &&
      !ours.ok &&
      ours.message.startsWith('The TotalSegments parameter is required'),
  ],
  [
    'unspaced-keyword',
    ({ body }, ours, theirs) =>
      !theirs.ok &&
      theirs.message.includes('Syntax error; Expected') &&
      (ours.ok || !ours.message.includes('Syntax error')) &&
      Object.values(body).some(
        (text) =>
          typeof text === 'string' &&
          /\b(?:AND|OR|NOT|BETWEEN|IN|SET|REMOVE|ADD|DELETE)[:#]/i.test(text),
      ),
  ],
]
