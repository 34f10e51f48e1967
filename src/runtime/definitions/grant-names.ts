import { invalid } from '#base/app-error.ts'

/**
 * In a definition a function's grants name resources (`{ resource, access }`), for ids are not known when it is written.
 * Gives the config with ids in their place; anything that is not of this shape is left for the config's own check.
 */
export function withGrantIds(config: unknown, idOf: (name: string) => string | undefined): unknown {
  if (typeof config !== 'object' || config === null || !('resources' in config)) return config
  const grants: unknown = config.resources
  if (!Array.isArray(grants)) return config
  return { ...config, resources: grants.map((grant, at) => withId(grant, at, idOf)) }
}

function withId(grant: unknown, at: number, idOf: (name: string) => string | undefined): unknown {
  if (typeof grant !== 'object' || grant === null || !('resource' in grant)) return grant
  const { resource, ...rest } = grant
  const resourceId = typeof resource === 'string' ? idOf(resource) : undefined
  if (resourceId === undefined) {
    throw invalid(
      `config.resources[${at}].resource`,
      `resource "${String(resource)}" is neither in the definition nor on the site`,
    )
  }
  return { resourceId, ...rest }
}
