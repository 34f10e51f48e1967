import { AppError } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'

import { directoryFault, normalDirectory } from './artifact-path.ts'

/** The file of an artifact whose section `static` holds these settings. */
export const SITE_DEFINITION_FILE = 'croft.json'
const DEFAULT_DIRECTORY = 'public'
const DEFAULT_FALLBACK = '/index.html'
const MAX_FALLBACK_CHARACTERS = 500
const FIELDS = ['directory', 'cleanUrls', 'spa']

/** How the files of an artifact's public folder are served. */
export interface StaticSettings {
  /** Of the artifact, in the spelling of `normalDirectory`. */
  readonly directory: string
  /** Whether the artifact names the directory itself: then it must be there. */
  readonly isNamed: boolean
  /** Whether `/about` leads to `about.html`. */
  readonly cleanUrls: boolean
  /** The path, from `/` on, of the page that answers for paths of a single-page application. */
  readonly fallback: string | null
}

/**
 * Reads the section `static` of a `croft.json`; what it leaves out gets its default. Throws `InvalidArtifact` that names the
 * field. A text that is no JSON says nothing here: the reader of the rest refuses it.
 */
export function parseStaticSettings(croftJson: string | undefined): StaticSettings {
  const section = sectionOf(croftJson)
  const unknown = Object.keys(section).find((name) => !FIELDS.includes(name))
  if (unknown !== undefined) {
    throw fault(`static.${unknown.slice(0, 100)}`, `is not known: there are ${FIELDS.join(', ')}`)
  }
  const { directory, cleanUrls = true, spa = false } = section
  if (typeof cleanUrls !== 'boolean') throw fault('static.cleanUrls', 'must be true or false')
  return {
    directory: directory === undefined ? DEFAULT_DIRECTORY : parseDirectory(directory),
    isNamed: directory !== undefined,
    cleanUrls,
    fallback: parseFallback(spa),
  }
}

/** Whether a file of the artifact is in its public folder, and so no code of its functions. */
export const isPublicFile = (path: string, { directory }: Pick<StaticSettings, 'directory'>) =>
  path.startsWith(`${directory}/`)

function sectionOf(croftJson: string | undefined): Readonly<Record<string, unknown>> {
  const section = memberOf(croftJson)
  if (section === undefined) return {}
  if (!isJsonObject(section)) throw fault('static', 'must be an object')
  return section
}

function memberOf(croftJson: string | undefined): unknown {
  if (croftJson === undefined) return undefined
  try {
    const value: unknown = JSON.parse(croftJson)
    return isJsonObject(value) ? value['static'] : undefined
  } catch {
    return undefined
  }
}

function parseDirectory(value: unknown): string {
  if (typeof value !== 'string') throw fault('static.directory', 'must be text, like "public"')
  const wrong = directoryFault(value)
  if (wrong !== undefined) throw fault('static.directory', `"${value}" ${wrong}`)
  const directory = normalDirectory(value)
  if (directory === '.') {
    throw fault(
      'static.directory',
      'is the whole artifact, with the code of its functions: name a folder in it',
    )
  }
  return directory
}

function parseFallback(value: unknown): string | null {
  if (value === false) return null
  if (value === true) return DEFAULT_FALLBACK
  const isPath =
    typeof value === 'string' && value.startsWith('/') && value.length <= MAX_FALLBACK_CHARACTERS
  if (!isPath)
    throw fault('static.spa', 'must be true, false or the path of a page, like "/app.html"')
  return value
}

const fault = (field: string, message: string): AppError =>
  new AppError('InvalidArtifact', `${SITE_DEFINITION_FILE}: ${field} ${message}`)
