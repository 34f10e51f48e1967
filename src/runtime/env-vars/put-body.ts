import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { ClosedObject } from '#base/closed-object.ts'
import { schemaFaults } from '#base/schema-faults.ts'
import { invalidFields } from '#runtime/shape.ts'

import { type EnvVarChange, MAX_ENV_VARS } from './model.ts'

const Variable = ClosedObject({
  value: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  secret: Type.Optional(Type.Boolean()),
})

/** `{ storageBackend?, variables: { NAME: { value?, secret? } } }`; `value: null` deletes. */
const PutEnvVars = ClosedObject({
  storageBackend: Type.Optional(
    Type.Union([Type.Literal('ssmSecureString'), Type.Literal('ssmString')]),
  ),
  variables: Type.Record(Type.String(), Variable, { maxProperties: 2 * MAX_ENV_VARS }),
})

const FIELDS =
  /^(?:storageBackend|variables(?:\.[A-Za-z_][A-Za-z0-9_]{0,127}(?:\.(?:value|secret))?)?)$/

/** The changes that a body asks for. A fault repeats nothing of the body but known fields and valid names. */
export function parsePutEnvVars(body: unknown): EnvVarChange[] {
  checkSecretShape(PutEnvVars, body, FIELDS)
  const { storageBackend, variables } = body as Static<typeof PutEnvVars>
  return Object.entries(variables).map(([name, variable]) => ({
    name,
    ...variable,
    ...(storageBackend === undefined ? {} : { storageBackend }),
  }))
}

/** Checks as `parseShape` does, but never repeats a field that `known` does not match: it may be a value in the wrong place. */
export function checkSecretShape(schema: TSchema, value: unknown, known: RegExp): void {
  const faults = schemaFaults(Value.Errors(schema, value)).map((fault) =>
    fault.field === 'body' || known.test(fault.field) ? fault : unknownField(placeOf(fault.field)),
  )
  if (faults.length > 0) throw invalidFields(faults)
}

const placeOf = (field: string) => (field.startsWith('variables') ? 'variables' : 'body')

const unknownField = (field: string) => ({
  field,
  message: `holds a field that is not known${field === 'variables' ? ': a variable takes "value" and "secret"' : ''}`,
})
