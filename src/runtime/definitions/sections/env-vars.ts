import { Type } from '@sinclair/typebox'

import type { FieldFault } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import type {
  DefinedItem,
  IndexedItem,
  PutAction,
  DefinitionSection,
  SiteItem,
} from '#runtime/definitions/section.ts'
import type { EnvVars } from '#runtime/env-vars/env-vars.ts'
import { MAX_ENV_VARS, type StorageBackend, planEnvVarChanges } from '#runtime/env-vars/model.ts'
import { checkSecretShape } from '#runtime/env-vars/put-body.ts'
import { mapFaults, parseShape } from '#runtime/shape.ts'

export const DefinedEnvVar = ClosedObject({
  name: Type.String(),
  value: Type.Optional(Type.String()),
  secret: Type.Optional(Type.Boolean()),
  storageBackend: Type.Optional(
    Type.Union([Type.Literal('ssmSecureString'), Type.Literal('ssmString')]),
  ),
})

const FIELDS = /^(?:name|value|secret|storageBackend)$/

/** A variable as a definition says it. Its value, and whether it is secret, stay as the site has them where they are left out. */
interface DefinedVariable {
  readonly name: string
  readonly value?: string
  readonly secret?: boolean
  readonly storageBackend: StorageBackend
}

/** The environment of a site's functions. A secret's value goes in and never comes out. */
export const envVarSection = (envVars: EnvVars): DefinitionSection => ({
  name: 'envVars',
  maxItems: MAX_ENV_VARS,
  parse(value): DefinedItem {
    const variable = parseVariable(value)
    return {
      ...itemOf(variable),
      partial: true,
      variable,
      async put(tx, by) {
        const actions = await envVars.write(tx, [variable], by).catch((error: unknown) => {
          throw mapFaults(error, itemFault)
        })
        return putAction(actions.get(variable.name))
      },
    }
  },
  all: async (tx) => (await envVars.all(tx)).map(itemOf),
  async actions(tx, placed, toDelete) {
    const changes = placed.flatMap(({ item }) => item.variable ?? [])
    const actions = await envVars.dryRun(tx, changes, toDelete).catch((error: unknown) => {
      throw mapFaults(error, (fault) => sectionFault(placed, fault))
    })
    return new Map([...actions].map(([name, action]) => [name, putAction(action)]))
  },
  async delete(tx, name, { audit }) {
    const actions = await envVars.write(tx, [{ name, value: null }], { audit })
    return actions.get(name) === 'delete'
  },
})

/** Its rules are those of the routes, for a variable that is not there yet. */
function parseVariable(value: unknown): DefinedVariable {
  checkSecretShape(DefinedEnvVar, value, FIELDS)
  const variable = {
    storageBackend: 'ssmSecureString' as const,
    ...parseShape(DefinedEnvVar, value),
  }
  try {
    planEnvVarChanges(new Map(), [{ ...variable, value: variable.value ?? '' }])
  } catch (error) {
    throw mapFaults(error, itemFault)
  }
  return variable
}

const itemOf = ({ name, value, secret, storageBackend }: DefinedVariable): SiteItem => ({
  name,
  canonical: {
    name,
    ...(value === undefined ? {} : { value }),
    ...(secret === undefined ? {} : { secret }),
    ...(storageBackend === 'ssmSecureString' ? {} : { storageBackend }),
  },
  links: [],
})

const putAction = (action: string | undefined): PutAction =>
  action === 'create' || action === 'update' ? action : 'none'

/** `{NAME}.value` becomes `envVars[2].value`. */
function sectionFault(placed: readonly IndexedItem[], fault: FieldFault): FieldFault {
  const [name] = fault.field.split('.', 1)
  const found = placed.find(({ item }) => item.name === name)
  const { field, message } = itemFault(fault)
  return { field: found ? `envVars[${found.index}].${field}` : 'envVars', message }
}

/** `{NAME}.value` becomes `value`: the item says which variable it is. */
function itemFault({ field, message }: FieldFault): FieldFault {
  if (field === 'variables') return { field: 'value', message }
  const step = field.lastIndexOf('.')
  return { field: step === -1 ? 'name' : field.slice(step + 1), message }
}
