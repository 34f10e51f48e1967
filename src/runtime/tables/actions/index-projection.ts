import type { ItemPageRequest } from '#runtime/tables/api/action-fields.ts'
import type { DocumentPath } from '#runtime/tables/expressions/document-path.ts'
import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import { pathsIn } from '#runtime/tables/expressions/syntax.ts'
import {
  type IndexSchema,
  type TableSchema,
  keyAttributes,
} from '#runtime/tables/items/key-schema.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

const INVALID = 'One or more parameter values were invalid: '

/** The attributes that an index holds of its items; undefined where it holds all. */
export function projectedNames(
  table: TableSchema,
  index: IndexSchema,
): ReadonlySet<string> | undefined {
  const { projection } = index
  if (projection === undefined) return undefined
  const keys = [...keyAttributes(table), ...keyAttributes(index)].map(({ name }) => name)
  return new Set([...keys, ...(projection.nonKeyAttributes ?? [])])
}

/** Refuses what an index that holds some attributes cannot tell of the others. */
export function checkProjected(
  { select }: ItemPageRequest,
  { projection, filter }: BoundExpressions,
  { index, attributes }: { readonly index?: string; readonly attributes?: ReadonlySet<string> },
): void {
  if (attributes === undefined) return
  if (select === 'ALL_ATTRIBUTES') {
    throw validationError(
      `${INVALID}Select type ALL_ATTRIBUTES is not supported for global secondary index ${index} because its projection type is not ALL`,
    )
  }
  const unfiltered = missing(filter === undefined ? [] : pathsIn(filter), attributes)
  if (unfiltered.length > 0) {
    throw validationError(
      `${INVALID}Secondary index ${index} does not project one or more filter attributes: [${unfiltered.join(', ')}]`,
    )
  }
  const unshown = missing(projection?.paths ?? [], attributes)
  if (unshown.length > 0) {
    throw validationError(
      `${INVALID}Global secondary index ${index} does not project [${unshown.join(', ')}]`,
    )
  }
}

function missing(
  paths: readonly DocumentPath[],
  attributes: ReadonlySet<string>,
): readonly string[] {
  const names = new Set(paths.map(([head]) => String(head)))
  return [...names].filter((name) => !attributes.has(name))
}
