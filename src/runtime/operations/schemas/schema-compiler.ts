import type { FieldFault } from '#base/app-error.ts'
import { didYouMean } from '#base/did-you-mean.ts'
import { isJsonObject } from '#base/json-object.ts'
import type { CheckNode } from '#platform/sandbox-host/sandbox.ts'

import {
  MAX_SCHEMA_CHAIN,
  MAX_SCHEMA_DEPTH,
  MAX_DEFINITION_FAULTS,
  MAX_SUBSCHEMAS,
} from './json-schema.ts'
import {
  type DraftNode,
  escaped,
  KEYWORDS,
  PARTNERS,
  type SchemaPlace,
  type SchemaReading,
} from './keywords.ts'

/** Reads one schema into nodes, and keeps what is wrong with it by place. */
export class SchemaCompiler implements SchemaReading {
  readonly nodes: DraftNode[] = []
  readonly #field: string
  readonly #faults: FieldFault[] = []
  /** The nodes of `$defs`, by name. */
  readonly #definitions = new Map<string, number>()
  readonly #references: { readonly node: DraftNode; readonly to: string; readonly at: string }[] =
    []
  readonly #pointers: string[] = []

  constructor(field: string) {
    this.#field = field
  }

  /** What is wrong with the schema; when that is nothing, `nodes` are its check. */
  compile(schema: unknown): readonly FieldFault[] {
    this.schema(schema, { pointer: '', depth: 0 })
    this.#resolve()
    if (this.#faults.length === 0) this.#checkChains()
    return this.#faults
  }

  /** Compiles a schema within the one that is read. Returns its node. */
  schema(schema: unknown, place: SchemaPlace): number {
    const index = this.nodes.length
    if (index >= MAX_SUBSCHEMAS)
      return this.#tooMuch(place, `has more than ${MAX_SUBSCHEMAS} schemas`)
    if (place.depth > MAX_SCHEMA_DEPTH)
      return this.#tooMuch(place, `is nested deeper than ${MAX_SCHEMA_DEPTH} schemas`)
    const node: DraftNode = {}
    this.nodes.push(node)
    this.#pointers.push(place.pointer)
    if (schema === false) node.never = true
    else if (isJsonObject(schema)) this.#keywords(node, schema, place)
    else if (schema !== true)
      this.fault(place.pointer, 'must be a schema: an object, true or false')
    return index
  }

  /** A `$ref`, which may lead to what is not read yet. */
  refer(node: DraftNode, to: string, at: string): void {
    this.#references.push({ node, to, at })
  }

  define(name: string, node: number): void {
    this.#definitions.set(name, node)
  }

  fault(pointer: string, message: string): void {
    if (this.#faults.length >= MAX_DEFINITION_FAULTS) return
    this.#faults.push({ field: this.#field + shortened(pointer), message })
  }

  #keywords(node: DraftNode, schema: Readonly<Record<string, unknown>>, place: SchemaPlace): void {
    for (const [keyword, value] of Object.entries(schema)) {
      const pointer = `${place.pointer}/${escaped(keyword)}`
      const reader = KEYWORDS.get(keyword)
      const partner = PARTNERS.get(keyword)
      if (!reader) this.fault(pointer, unknownKeyword(keyword))
      else if (partner !== undefined && !Object.hasOwn(schema, partner))
        this.fault(pointer, `has no meaning without "${partner}" beside it`)
      else reader({ reading: this, node, value, pointer, depth: place.depth })
    }
  }

  #resolve(): void {
    for (const { node, to, at } of this.#references) {
      const target = to === '#' ? 0 : this.#definitions.get(definitionOf(to) ?? '')
      if (target === undefined) this.fault(at, `leads to ${JSON.stringify(to)}, which is not there`)
      else node.all = [target, ...(node.all ?? [])]
    }
  }

  /** No value may be checked against schemas without end, nor by more than a few in a row. */
  #checkChains(): void {
    const lengths: (number | 'open' | undefined)[] = []
    const lengthOf = (index: number): number => {
      const known = lengths[index]
      if (known === 'open') throw new EndlessChain(index)
      if (known !== undefined) return known
      lengths[index] = 'open'
      const node = this.nodes[index] ?? {}
      const length = 1 + Math.max(0, ...sameValueNodes(node).map(lengthOf))
      if (length > MAX_SCHEMA_CHAIN) throw new LongChain(index)
      lengths[index] = length
      return length
    }
    try {
      for (const index of this.nodes.keys()) lengthOf(index)
    } catch (error) {
      if (!(error instanceof Chain)) throw error
      this.fault(this.#pointers[error.node] ?? '', error.message)
    }
  }

  #tooMuch({ pointer }: SchemaPlace, message: string): number {
    this.fault(pointer, message)
    return 0
  }
}

class Chain extends Error {
  readonly node: number

  constructor(node: number, message: string) {
    super(message)
    this.node = node
  }
}

class EndlessChain extends Chain {
  constructor(node: number) {
    super(node, 'leads back to itself for the same value, by "$ref": no check of it would end')
  }
}

class LongChain extends Chain {
  constructor(node: number) {
    super(node, `checks one value against more than ${MAX_SCHEMA_CHAIN} schemas in a row`)
  }
}

/** The nodes that the same value is checked against. */
const sameValueNodes = (node: CheckNode): number[] =>
  [
    ...(node.all ?? []),
    ...(node.anyOf ?? []),
    ...(node.oneOf ?? []),
    ...(node.dependentSchemas ?? []).map(([, index]) => index),
    node.not,
    node.if,
    node.then,
    node.else,
  ].filter((index) => index !== undefined)

const LOCAL = /^#\/\$defs\/([^/]+)$/u

/** The name that a local `$ref` has; undefined where it is none. RFC 6901, sections 3 and 6. */
function definitionOf(reference: string): string | undefined {
  const [, name] = LOCAL.exec(reference) ?? []
  if (name === undefined) return undefined
  try {
    return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

function unknownKeyword(keyword: string): string {
  const meant = didYouMean(keyword, [...KEYWORDS.keys()])
  const hint = meant === undefined ? '' : `: did you mean "${meant}"?`
  return `is not a keyword that is supported${hint}`
}

const shortened = (pointer: string): string =>
  pointer.length > 200 ? `${pointer.slice(0, 199).toWellFormed()}…` : pointer
