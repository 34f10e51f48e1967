import { type Arguments, choiceOption, listOption, textOption } from './command.ts'
import { UsageError } from './errors.ts'

/** What `site create` and `site update` say about a site's source and settings. */
export const SITE_OPTIONS = [
  textOption('--source <mode>', 'where its files come from: EXTERNAL_REPO or SITE_GIT'),
  textOption('--repo-url <url>', 'the repository'),
  textOption('--branch <branch>', 'its branch'),
  textOption('--artifact-dir <folder>', 'the folder that a build leaves, as build.yml names it'),
  listOption('--egress <host>', 'a host that functions may fetch from'),
  listOption('--origin <origin>', 'an origin whose pages may call the site'),
  choiceOption('--auto-rollback <switch>', ['on', 'off'], 'roll back a deployment that fails'),
  textOption('--auto-rollback-failure-percent <n>', 'above this share of its calls in a minute'),
  textOption('--auto-rollback-min-calls <n>', 'of at least so many'),
  listOption('--limit <name=value>', 'a limit, or NAME=default to go back'),
]

const LIMIT = /^([^=]+)=(default|\d+)$/

/** Makes the fields of the request. `mode` is the source mode that the site has already, if any. */
export function siteFields(args: Arguments, mode?: string): Record<string, unknown> {
  const sourceMode = sourceModeOf(args)
  const source = defined({
    url: args.text('repoUrl'),
    branch: args.text('branch'),
    artifactDirectory: args.text('artifactDir'),
  })
  const external = (sourceMode ?? mode) === 'EXTERNAL_REPO' || source['url'] !== undefined
  const [egress, origins] = [args.list('egress'), args.list('origin')]
  const limits = args.list('limit')
  const deploymentSettings = defined({
    egress: egress && { allow: egress },
    cors: origins && { origins },
    autoRollback: autoRollbackOf(args),
    limits: limits && Object.fromEntries(limits.map(limitOf)),
  })
  return defined({
    sourceMode,
    [external ? 'repo' : 'repoBinding']: empty(source) ? undefined : source,
    deploymentSettings: empty(deploymentSettings) ? undefined : deploymentSettings,
  })
}

/** `none` takes away. */
export const orNone = (text: string | undefined): string | null | undefined =>
  text === 'none' ? null : text

/** Without the fields that are undefined. */
export const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function sourceModeOf(args: Arguments): string | undefined {
  const source = args.text('source')?.toUpperCase()
  if (source === undefined || source === 'EXTERNAL_REPO' || source === 'SITE_GIT') return source
  throw new UsageError(`--source is EXTERNAL_REPO or SITE_GIT, not "${args.text('source')}"`)
}

/** Undefined when nothing is said of it. */
function autoRollbackOf(args: Arguments): Record<string, unknown> | undefined {
  const turned = args.text('autoRollback')
  const fields = defined({
    enabled: turned === undefined ? undefined : turned === 'on',
    failurePercent: wholeNumber(args, 'autoRollbackFailurePercent'),
    minCalls: wholeNumber(args, 'autoRollbackMinCalls'),
  })
  return empty(fields) ? undefined : fields
}

/** Leaves ranges to the service. */
function wholeNumber(args: Arguments, option: string): number | undefined {
  const text = args.text(option)
  if (text === undefined || /^\d{1,9}$/.test(text))
    return text === undefined ? undefined : Number(text)
  const flag = option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new UsageError(`--${flag} is a whole number, not "${text}"`)
}

/** Leaves names and ranges to the service, which knows them. */
function limitOf(text: string): [string, number | null] {
  const [, name, value] = LIMIT.exec(text) ?? []
  if (name !== undefined) return [name, value === 'default' ? null : Number(value)]
  throw new UsageError(`--limit is NAME=VALUE with a whole number, or NAME=default, not "${text}"`)
}

const empty = (fields: object): boolean => Object.keys(fields).length === 0
