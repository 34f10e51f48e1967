import { type FieldFault, invalid } from '#base/app-error.ts'
import type { TypedConfig } from '#runtime/resources/model.ts'

/**
 * In a definition a function's grants name resources (`{ resource, access }`), for ids are not known when it is written.
 * Gives the config as its own check reads it, with the names where ids would be.
 */
export function withGrantIds(config: unknown): unknown {
  if (typeof config !== 'object' || config === null || !('resources' in config)) return config
  const grants: unknown = config.resources
  if (!Array.isArray(grants)) return config
  return { ...config, resources: grants.map(withId) }
}

function withId(grant: unknown, at: number): unknown {
  if (typeof grant !== 'object' || grant === null) return grant
  if (!('resource' in grant)) {
    throw invalid(`config.resources[${at}].resource`, 'is required: the name of a table or bucket')
  }
  const { resource, ...rest } = grant
  return { ...rest, resourceId: resource }
}

/** The config of a resource whose grants hold names, in the words of a definition. */
export function withGrantNames({ type, config }: TypedConfig): object {
  if (type !== 'lambdaFunction') return config
  const grants = config.resources.map(({ resourceId, access }) => ({
    resource: resourceId,
    access,
  }))
  return { ...config, resources: grants }
}

/** The fault of a check that knows ids only, naming what the definition holds instead. */
export const grantFault = ({ field, message }: FieldFault): FieldFault => ({
  field: field.replace(/^(config\.resources\[\d+\])\.resourceId$/, '$1.resource'),
  message,
})
