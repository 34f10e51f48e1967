import { type AttributeType, typeOf } from '#runtime/tables/items/attribute-value.ts'

import { bindOperand, checkArity, checkFirstIsPath, checkTypes } from './bind-operand.ts'
import { checkDistinctPaths, type DocumentPath } from './document-path.ts'
import { ExpressionError } from './expression-error.ts'
import type { Substitutions } from './substitutions.ts'
import { type ActionNode, type Operand, pathsIn, type UpdateAction } from './syntax.ts'

/** An update with its names and values in place. */
export interface Update {
  readonly actions: readonly UpdateAction[]
  /** Every path that it writes or reads. */
  readonly paths: readonly DocumentPath[]
}

/** The update of a request that has no update expression. */
export const NO_UPDATE: Update = { actions: [], paths: [] }

/** What ADD and DELETE take. */
const ACCUMULATED: readonly AttributeType[] = ['SS', 'NS', 'BS', 'N']
const SETS: readonly AttributeType[] = ['SS', 'NS', 'BS']
/** DynamoDB's names of the types in what it says of ADD and DELETE. */
const LONG_NAMES: Readonly<Partial<Record<AttributeType, string>>> = {
  S: 'STRING',
  N: 'NUMBER',
  B: 'BINARY',
  BOOL: 'BOOLEAN',
  L: 'LIST',
  M: 'MAP',
}

/** Puts names and values into a parsed update and checks what only they show. */
export function bindUpdate(
  nodes: readonly ActionNode<string>[],
  substitutions: Substitutions,
): Update {
  const written = nodes.flatMap(({ path, value }) => [path, ...(value ? pathsIn(value) : [])])
  const paths = written.map((path) => substitutions.path(path))
  const actions = nodes.map(({ section, path, value }): UpdateAction => ({
    section,
    path: substitutions.path(path),
    ...(value && { value: bindOperand(value, substitutions) }),
  }))
  checkDistinctPaths(actions.map(({ path }) => path))
  for (const { section, value } of actions) {
    if (section === 'ADD') checkAccumulated(section, ACCUMULATED, value)
    if (section === 'DELETE') checkAccumulated(section, SETS, value)
  }
  for (const { section, value } of actions) if (section === 'SET' && value) checkAssigned(value)
  return { actions, paths }
}

/** Checks what a SET takes from operands first. */
function checkAssigned(value: Operand): void {
  if (value.kind !== 'call') return
  for (const operand of value.operands) checkAssigned(operand)
  checkArity(value)
  if (value.operator === 'if_not_exists') checkFirstIsPath(value)
  else checkTypes(value)
}

function checkAccumulated(
  section: 'ADD' | 'DELETE',
  types: readonly AttributeType[],
  operand: Operand | undefined,
): void {
  if (operand?.kind !== 'value') return
  const type = typeOf(operand.value)
  if (types.includes(type)) return
  throw new ExpressionError(
    `Incorrect operand type for operator or function; operator: ${section}, ` +
      `operand type: ${LONG_NAMES[type] ?? type}, typeSet: ALLOWED_FOR_${section}_OPERAND`,
  )
}
