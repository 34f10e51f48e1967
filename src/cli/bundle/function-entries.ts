import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** Read as far as it is needed here; the service checks the rest, and says what is wrong with it. */
const Definition = Type.Object({ resources: Type.Array(Type.Unknown()) })
const FunctionFile = Type.Object({
  type: Type.Literal('lambdaFunction'),
  config: Type.Object({ artifact: Type.String() }),
})

/** The files that a definition's functions are bound to, each once. */
export function functionEntries(definition: unknown): readonly string[] {
  if (!Value.Check(Definition, definition)) return []
  const entries = definition.resources.flatMap((resource) =>
    Value.Check(FunctionFile, resource) ? [resource.config.artifact] : [],
  )
  return [...new Set(entries)]
}
