import { invalid } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'
import type { SchemaCheck } from '#platform/sandbox-host/sandbox.ts'
import { invalidFields } from '#runtime/shape.ts'

import { type OperationSchema, MAX_SCHEMA_BYTES } from './json-schema.ts'
import { SchemaCompiler } from './schema-compiler.ts'

/** A schema that can be checked. Throws a `ValidationError` that names each place which is wrong. */
export function parseSchema(field: string, value: unknown): OperationSchema {
  if (typeof value !== 'boolean' && !isJsonObject(value))
    throw invalid(field, 'must be a JSON Schema: an object, true or false')
  const sizeBytes = Buffer.byteLength(JSON.stringify(value))
  if (sizeBytes > MAX_SCHEMA_BYTES)
    throw invalid(field, `has ${sizeBytes} bytes of JSON: at most ${MAX_SCHEMA_BYTES} are read`)
  const faults = new SchemaCompiler(field).compile(value)
  if (faults.length > 0) throw invalidFields(faults)
  return value
}

/** What calls are checked against. Expects what `parseSchema` has let through. */
export function compileSchema(schema: OperationSchema): SchemaCheck {
  const compiler = new SchemaCompiler('schema')
  const faults = compiler.compile(schema)
  if (faults.length > 0) throw invalidFields(faults)
  return compiler.nodes
}
