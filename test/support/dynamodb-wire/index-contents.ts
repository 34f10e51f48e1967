import type { DocumentPath } from '#runtime/tables/expressions/document-path.ts'
import { type BoundExpressions, Expressions } from '#runtime/tables/expressions/expressions.ts'
import { itemMatches } from '#runtime/tables/expressions/matches.ts'
import { project } from '#runtime/tables/expressions/project.ts'
import { pathsIn } from '#runtime/tables/expressions/syntax.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'

import { bindWire } from './expression-texts.ts'
import type { ItemRequest } from './item-request.ts'
import { mentioned } from './placeholders.ts'
import { validationFault } from './wire-error.ts'
import type { WireIndex, WireTable } from './wire-table.ts'

const INVALID = 'One or more parameter values were invalid: '
const FILTERS = ['FilterExpression', 'ProjectionExpression'] as const
const expressions = new Expressions()

type Body = Readonly<Record<string, unknown>>

/** What filter and projection of a request make of a page of the index. */
export interface Narrowing {
  /** Whether the projection asks for attributes that only the table holds. */
  readonly fetches: boolean
  answer(page: readonly Item[], request: ItemRequest): Body
}

/** An index that holds only some attributes of its items. */
export class IndexContents {
  readonly index: WireIndex
  readonly #attributes: ReadonlySet<string>

  private constructor(index: WireIndex, attributes: ReadonlySet<string>) {
    this.index = index
    this.#attributes = attributes
  }

  /** Undefined for an index that holds all attributes. */
  static of(table: WireTable, index: WireIndex): IndexContents | undefined {
    const { KeySchema: keys, Projection: projection } = index
    if (projection.ProjectionType === 'ALL') return undefined
    const names = [...table.keySchema, ...keys].map((key) => key.AttributeName)
    return new IndexContents(index, new Set([...names, ...(projection.NonKeyAttributes ?? [])]))
  }

  narrowed(item: Item): Item {
    return Object.fromEntries(Object.entries(item).filter(([name]) => this.#attributes.has(name)))
  }

  /** Refuses to filter by what the index does not hold, and to show it unless the index is a local one. */
  narrowing(body: Body): Narrowing {
    const { filter, projection } = bound(body)
    const unfiltered = this.#missing(filter ? pathsIn(filter) : [])
    if (unfiltered.length > 0) {
      throw validationFault(
        `${INVALID}Secondary index ${this.index.IndexName} does not project one or more filter attributes: [${unfiltered.join(', ')}]`,
      )
    }
    const unheld = this.#missing(projection?.paths ?? [])
    if (unheld.length > 0 && this.index.scope === 'global') {
      throw validationFault(
        `${INVALID}Global secondary index ${this.index.IndexName} does not project [${unheld.join(', ')}]`,
      )
    }
    return {
      fetches: unheld.length > 0,
      answer: (page, { Select: select }) => {
        const kept = page.filter(
          (item) => filter === undefined || itemMatches(filter, this.narrowed(item)),
        )
        const shown = kept.map((item) =>
          projection === undefined ? this.narrowed(item) : project(projection, item),
        )
        return { Count: kept.length, ...(select !== 'COUNT' && { Items: shown }) }
      },
    }
  }

  #missing(paths: readonly DocumentPath[]): readonly string[] {
    const names = new Set(paths.map((path) => String(path[0])))
    return [...names].filter((name) => !this.#attributes.has(name))
  }
}

function bound(body: Body): BoundExpressions {
  const all = FILTERS.map((name) => body[name])
    .filter((text) => typeof text === 'string')
    .join(' ')
  const texts = Object.fromEntries(FILTERS.map((name) => [name, body[name]]))
  return bindWire(
    expressions,
    {
      ...texts,
      ...mentioned('ExpressionAttributeNames', body, all),
      ...mentioned('ExpressionAttributeValues', body, all),
    },
    ['ProjectionExpression', 'FilterExpression'],
  )
}
