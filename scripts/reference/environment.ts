import { loadBackupEnv } from '#config/backup-env.ts'
import { loadConfig } from '#config/load.ts'
import { SetupError } from '#config/setup-error.ts'

import { VARIABLES, type VariableText } from './environment-variables.ts'

/** A value that no parser takes but those of free text. */
const INVALID = '\u0001'

interface ReadVariables {
  readonly names: ReadonlySet<string>
  /** What its parser expects, and a valid value. */
  readonly expected: ReadonlyMap<string, string>
}

/** The page of all variables, with what the loaders themselves say of their values. */
export function environmentPage(): string {
  const { expected } = readVariables()
  const sections = Object.entries(VARIABLES).map(([heading, variables]) => {
    const lines = Object.entries(variables).map(([name, text]) => lineOf(name, text, expected))
    return `## ${heading}\n\n${lines.join('\n')}\n`
  })
  const intro =
    'The service and the operator’s commands read these. An empty variable counts as unset. All errors are reported at once, by name; an unknown name ' +
    'that begins with `CROFT_` or `BACKUP_` is an error too.'
  return `# Environment variables\n\n${intro}\n\n${sections.join('\n')}`
}

/** Every variable that the loaders ask for, asked with values that are wrong. */
export function readVariables(): ReadVariables {
  const names = new Set<string>()
  const expected = new Map<string, string>()
  const env = new Proxy<Record<string, string>>(
    {},
    {
      get(_, name) {
        names.add(String(name))
        return INVALID
      },
    },
  )
  for (const load of [loadConfig, loadBackupEnv]) {
    for (const [, name = '', values = ''] of errorsOf(() => load(env)).matchAll(
      /^ +- (\w+): .+ is not (.+)$/gm,
    )) {
      expected.set(name, values)
    }
  }
  return { names, expected }
}

function errorsOf(load: () => unknown): string {
  try {
    load()
  } catch (error) {
    if (error instanceof SetupError) return error.message
    throw error
  }
  return ''
}

function lineOf(name: string, text: VariableText, expected: ReadonlyMap<string, string>): string {
  const values = expected.get(name)
  const [form = '', example] = values?.split(`, as in ${name}=`) ?? []
  const shown = example === undefined ? '' : ` Takes ${form}, like \`${example}\`.`
  return `- **\`${name}\`**: ${text.text} Default: ${text.default}.${shown}`
}
