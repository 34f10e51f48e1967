import { create, push, RegExpClass } from '#sandbox/guest/web/primordials.ts'
import type { CompiledSchema, SchemaNode } from '#sandbox/protocol/compiled-schema.ts'

/** A node with what its check looks up. */
export interface PreparedNode extends SchemaNode {
  readonly matches: RegExp | undefined
  readonly named: Readonly<Record<string, number>> | undefined
  readonly patterned: readonly PatternedNode[] | undefined
}

interface PatternedNode {
  readonly pattern: RegExp
  readonly node: number
}

export type PreparedSchema = readonly PreparedNode[]

/** Done once for each schema, when the first call is checked. Throws where V8 takes a pattern for none. */
export function preparedSchema(schema: CompiledSchema): PreparedSchema {
  const nodes: PreparedNode[] = []
  for (let at = 0; at < schema.length; at += 1) push(nodes, preparedNode(schema[at] as SchemaNode))
  return nodes
}

function preparedNode(node: SchemaNode): PreparedNode {
  const prepared = own(node) as { -readonly [Field in keyof PreparedNode]: PreparedNode[Field] }
  prepared.matches = node.pattern === undefined ? undefined : patternOf(node.pattern)
  prepared.named = node.properties && byName(node.properties)
  prepared.patterned = node.patternProperties && byPattern(node.patternProperties)
  return prepared
}

/** Without a prototype, on which site code could put keywords. */
function own(node: SchemaNode): object {
  const copy = create(null) as Record<string, unknown>
  for (const name in node) copy[name] = node[name as keyof SchemaNode]
  return copy
}

function byName(list: readonly (readonly [string, number])[]): Record<string, number> {
  const named = create(null) as Record<string, number>
  for (let at = 0; at < list.length; at += 1) {
    const entry = list[at] as readonly [string, number]
    named[entry[0]] = entry[1]
  }
  return named
}

function byPattern(list: readonly (readonly [string, number])[]): PatternedNode[] {
  const patterned: PatternedNode[] = []
  for (let at = 0; at < list.length; at += 1) {
    const entry = list[at] as readonly [string, number]
    push(patterned, { pattern: patternOf(entry[0]), node: entry[1] })
  }
  return patterned
}

const patternOf = (source: string): RegExp => new RegExpClass(source, 'u')
