import { AppError } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'
import { SITE_DEFINITION_FILE, type StaticSettings, isPublicFile } from '#sites/static-settings.ts'

/** Refuses, by name, a function whose code everybody could read: what is public is no code of functions. */
export function checkFunctions(croftJson: string | undefined, settings: StaticSettings): void {
  const exposed = artifactsIn(croftJson).find((path) => isPublicFile(path, settings))
  if (exposed === undefined) return
  throw new AppError(
    'InvalidArtifact',
    `${SITE_DEFINITION_FILE}: the function "${exposed}" is in "${settings.directory}", which everybody can read: move it out of there`,
  )
}

/** What is written wrong in other ways is refused by whoever reads the definition. */
function artifactsIn(croftJson: string | undefined): string[] {
  const resources = resourcesIn(croftJson)
  return resources.flatMap((resource) => {
    const config = isJsonObject(resource) ? resource['config'] : undefined
    const artifact = isJsonObject(config) ? config['artifact'] : undefined
    return typeof artifact === 'string' ? [artifact.replace(/^(?:\.\/+)+/, '')] : []
  })
}

function resourcesIn(croftJson: string | undefined): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(croftJson ?? '{}')
    const resources = isJsonObject(value) ? value['resources'] : undefined
    return Array.isArray(resources) ? resources : []
  } catch {
    return []
  }
}
