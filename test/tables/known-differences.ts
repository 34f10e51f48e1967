import { staticTypeOf } from '#runtime/tables/expressions/bind-operand.ts'
import type { Update } from '#runtime/tables/expressions/bind-update.ts'
import { type DocumentPath, valueAt } from '#runtime/tables/expressions/document-path.ts'
import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import { type Operator, ruleOf } from '#runtime/tables/expressions/operators.ts'
import {
  type BoundCall,
  type Condition,
  type Operand,
  pathsIn,
} from '#runtime/tables/expressions/syntax.ts'
import {
  type AttributeType,
  type AttributeValue,
  type Item,
  typeOf,
} from '#runtime/tables/items/attribute-value.ts'

import type { Answer } from './answer.ts'

/** Where dynalite is not DynamoDB; each has its row in docs/reference/dynamodb-compatibility.md. */
export type Difference =
  | 'syntax-wording'
  | 'type-set'
  | 'unordered-literal'
  | 'known-function'
  | 'repeated-not'
  | 'leading-underscore'
  | 'bare-sigil'
  | 'nested-list-append'
  | 'document-equality'
  | 'both-missing'
  | 'unordered-attribute'
  | 'falsy-value'
  | 'contains-any'
  | 'list-positions'
  | 'shared-value'
  | 'not-asked'
  | 'remove-from-nothing'
  | 'item-of-removals'
  | 'empty-attributes'
  | 'empty-index-key'
  | 'select'
  | 'consistent-scan'
  | 'delete-return-values'
  | 'unspaced-keyword'
  | 'segment-zero'
  | 'empty-lookup-key'
  | 'key-conditions'
  | 'expression-size'

const KNOWN_FUNCTION =
  /^(Invalid \w+: )The function is not allowed in an? (?:condition|update) expression; (function: \w+)$/

/** How the texts of the two answers show a difference; an answer that is no error has no text. */
const MESSAGES: readonly (readonly [Difference, (ours: string, theirs: string) => boolean])[] = [
  ['repeated-not', (_ours, theirs) => / but "n" found\.$/i.test(theirs)],
  ['leading-underscore', (ours) => ours.includes('Syntax error; token: "_"')],
  ['bare-sigil', (ours) => /Syntax error; token: "[#:]"/.test(ours)],
  ['syntax-wording', sameSyntaxFault],
  ['type-set', (ours, theirs) => ours.replace(/, typeSet: \w+$/, '') === theirs],
  [
    'unordered-literal',
    (ours) => /operator or function: (?:<|<=|>|>=|BETWEEN), operand type: \w+$/.test(ours),
  ],
  [
    'known-function',
    (ours, theirs) => ours.replace(KNOWN_FUNCTION, '$1Invalid function name; $2') === theirs,
  ],
  [
    'expression-size',
    (ours, theirs) =>
      ours ===
      theirs
        .replace(/(?<=allowed size; |too long; )(?:expression size|size of key): \d+$/, '')
        .trim(),
  ],
  [
    'nested-list-append',
    (ours) =>
      ours.endsWith('not allowed to be used this way in an expression; function: list_append'),
  ],
]

/** The difference that two error texts show, if they are known to differ so. */
export function differenceOfMessages(ours: Answer, theirs: Answer): Difference | undefined {
  const [left, right] = [ours, theirs].map((answer) => (answer.ok ? '' : answer.message))
  if (left === undefined || right === undefined || left === right) return undefined
  return MESSAGES.find(([, shows]) => shows(left, right))?.[0]
}

function sameSyntaxFault(ours: string, theirs: string): boolean {
  const [, opening] = /^(Invalid \w+: Syntax error; )token: "/.exec(ours) ?? []
  return opening !== undefined && theirs.startsWith(opening)
}

/** What in a condition, for this item, dynalite is known to judge otherwise. */
function differencesOfCondition(condition: Condition, item: Item): Difference[] {
  if (condition.kind === 'call') return differencesOfPredicate(condition, item)
  return condition.conditions.flatMap((each) => differencesOfCondition(each, item))
}

function differencesOfPredicate({ operator, operands }: BoundCall, item: Item): Difference[] {
  const [first, ...others] = operands.map((each) => resolved(each, item))
  const found: Difference[] = []
  if (operands.some((each) => measuresNothing(each, item))) found.push('falsy-value')
  if (ruleOf(operator).scope !== undefined) return [...found, ...ofCall(operator, first, others[0])]
  for (const other of others) found.push(...ofPair(operator, first, other))
  return found
}

function ofCall(
  name: string,
  first: AttributeValue | undefined,
  second: AttributeValue | undefined,
): Difference[] {
  if (name === 'attribute_type' && first !== undefined && isFalsy(first)) return ['falsy-value']
  const any = name === 'contains' && first !== undefined && second !== undefined && 'L' in first
  return any ? ['contains-any'] : []
}

function ofPair(
  operator: Operator,
  first: AttributeValue | undefined,
  second: AttributeValue | undefined,
): Difference[] {
  if (first === undefined || second === undefined) {
    return first === second ? ['both-missing'] : []
  }
  if ((operator === 'BETWEEN' || operator === 'IN') && isFalsy(first)) return ['falsy-value']
  if (typeOf(first) !== typeOf(second)) return []
  return UNORDERED[typeOf(first)] ?? []
}

const UNORDERED: Readonly<Partial<Record<AttributeType, Difference[]>>> = {
  L: ['document-equality'],
  M: ['document-equality'],
  BOOL: ['unordered-attribute'],
  NULL: ['unordered-attribute'],
  SS: ['unordered-attribute'],
  NS: ['unordered-attribute'],
  BS: ['unordered-attribute'],
}

/** Empty strings and binaries, and false, which dynalite takes for absent. */
const isFalsy = (value: AttributeValue): boolean =>
  ('S' in value && value.S === '') ||
  ('B' in value && value.B === '') ||
  ('BOOL' in value && !value.BOOL)

function measuresNothing(operand: Operand, item: Item): boolean {
  const measured = operand.kind === 'call' ? operand.operands[0] : undefined
  const value = measured && resolved(measured, item)
  return value !== undefined && isFalsy(value)
}

/** The value of an operand; of a size only its type matters here. */
function resolved(operand: Operand, item: Item): AttributeValue | undefined {
  if (operand.kind === 'path') return valueAt(item, operand.path)
  if (operand.kind === 'value') return operand.value
  const [inner] = operand.operands
  const value = inner && resolved(inner, item)
  const type = value && typeOf(value)
  const measured = type !== undefined && !['N', 'BOOL', 'NULL'].includes(type)
  return measured && staticTypeOf(operand) === 'N' ? { N: '0' } : undefined
}

/** What in an update, for this item, dynalite is known to do otherwise. */
function differencesOfUpdate(update: Update, stored: Item | undefined): Difference[] {
  const found: Difference[] = []
  if (stored === undefined && makesItemOfRemovals(update)) found.push('item-of-removals')
  if (
    stored === undefined &&
    update.actions.some(({ section, path }) => section === 'REMOVE' && path.length > 1)
  ) {
    found.push('remove-from-nothing')
  }
  if (movesElements(update)) found.push('list-positions')
  if (sharesValues(update)) found.push('shared-value')
  return found
}

/** All of its actions take something away, and dynalite makes an item of that. */
const makesItemOfRemovals = ({ actions }: Update): boolean =>
  actions.length > 0 && actions.every(({ section }) => section === 'REMOVE' || section === 'DELETE')

/** An element is removed from a list in which another action has a place. */
function movesElements({ actions }: Update): boolean {
  return actions.some(
    (action) =>
      (action.section === 'REMOVE' || action.section === 'DELETE') &&
      typeof action.path.at(-1) === 'number' &&
      actions.some((other) => other !== action && startsWith(other.path, action.path.slice(0, -1))),
  )
}

/** What one action copies, another one changes in place. */
function sharesValues({ actions }: Update): boolean {
  const read = actions.flatMap((action) => (action.section === 'SET' ? copied(action.value) : []))
  return actions.some(
    ({ section, path }) =>
      (section === 'ADD' || section === 'DELETE' || path.length > 1) &&
      read.some((source) => startsWith(path, source) || startsWith(source, path)),
  )
}

/** A copy is put below what it is copied from, maybe by way of other copies: dynalite makes a circle of it. */
function copiesIntoItself({ actions }: Update): boolean {
  const read = actions.flatMap((action) => (action.section === 'SET' ? copied(action.value) : []))
  const below = actions.some(({ path }) =>
    read.some((source) => path.length > source.length && startsWith(path, source)),
  )
  return below || copiesInCircle(actions)
}

/** As in `SET a.x = b, b.x = a`: each of the copies is put into what another one takes. */
function copiesInCircle(actions: Update['actions']): boolean {
  const copies = actions.flatMap((action) =>
    action.section === 'SET'
      ? copied(action.value).map((source) => ({ source, target: action.path }))
      : [],
  )
  const next = ({ source }: { source: DocumentPath }, reached: ReadonlySet<object>) =>
    copies.filter(
      (each) =>
        !reached.has(each) && (startsWith(each.target, source) || startsWith(source, each.target)),
    )
  return copies.some((first) => {
    const reached = new Set<(typeof copies)[number]>()
    const waiting = [first]
    for (let copy = waiting.pop(); copy; copy = waiting.pop()) {
      const found = next(copy, reached).filter((each) => each.target !== copy.target)
      for (const each of found) reached.add(each)
      waiting.push(...found)
    }
    return reached.has(first)
  })
}

/** Something is missing where dynalite never looks whether it is there. */
function trustsItem(condition: Condition): boolean {
  if (condition.kind !== 'call') return condition.conditions.some(trustsItem)
  const isLiteral = ({ kind }: Operand): boolean => kind === 'value'
  const { operator, operands } = condition
  if (operator === 'IN' || operator === 'BETWEEN') return !operands.slice(1).every(isLiteral)
  return operator === 'begins_with' && !operands.some(isLiteral)
}

/** Whether dynalite may die of a request: it is not asked then. */
export function mayKillOracle({ update, condition, filter }: BoundExpressions): boolean {
  if (update !== undefined && copiesIntoItself(update)) return true
  return [condition, filter].some((bound) => bound !== undefined && trustsItem(bound))
}

/** Arithmetic gives something new. */
const copied = (value: Operand | undefined): readonly DocumentPath[] =>
  value === undefined || (value.kind === 'call' && ['+', '-'].includes(value.operator))
    ? []
    : pathsIn(value)

const startsWith = (path: DocumentPath, start: DocumentPath): boolean =>
  start.every((part, index) => path[index] === part)

/** All that may differ between the answers to one request about these items. */
export function differencesOf(
  bound: BoundExpressions,
  items: readonly (Item | undefined)[],
): Difference[] {
  return items.flatMap((item) => [
    ...(bound.update ? differencesOfUpdate(bound.update, item) : []),
    ...(bound.condition ? differencesOfCondition(bound.condition, item ?? {}) : []),
    ...(bound.filter ? differencesOfCondition(bound.filter, item ?? {}) : []),
  ])
}
