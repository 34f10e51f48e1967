import { type Static, Type } from '@sinclair/typebox'

import { loadConfig } from '#config/load.ts'
import { SetupError } from '#config/setup-error.ts'

import { type CliCommand, type CommandResult, type Invocation, flagOption } from './command.ts'
import { CommandError, ServiceRefusal } from './errors.ts'

const Finding = Type.Object({
  part: Type.String(),
  level: Type.Union([Type.Literal('ok'), Type.Literal('warning'), Type.Literal('problem')]),
  says: Type.String(),
  advice: Type.Union([Type.String(), Type.Null()]),
})

const Diagnosis = Type.Object({
  status: Type.String(),
  checks: Type.Record(Type.String(), Type.String()),
  walls: Type.Array(
    Type.Object({
      wall: Type.String(),
      stands: Type.Boolean(),
      reason: Type.Union([Type.String(), Type.Null()]),
      needed: Type.Boolean(),
    }),
  ),
  findings: Type.Array(Finding),
})

/** What each wall is for, shown when it is missing. */
const MEANINGS: Readonly<Record<string, string>> = {
  files: 'sees only its own files',
  network: 'has no network',
  processes: 'sees no other process',
  syscalls: 'may ask the kernel for little',
  user: 'runs as a user of its own',
  permissions: 'is kept by Node from files and programs',
  limits: 'has few files, small ones, and leaves no core',
  memory: 'is bounded in memory by the kernel',
}

/** What to do about a wall that a jail does not take. The others say it by their reason. */
const WALL_ADVICE: Readonly<Record<string, string>> = {
  user: 'Nothing to do: site code is in its jail without. Only a service that runs as root could give it another user',
  memory:
    'Nothing has to be done: the service ends what holds too much. To bound all of it, set MemoryMax= with "systemctl edit croft", or the memory of its container',
}

const MARKS = { ok: '✓', warning: '!', problem: '✗' } as const
/** The service tries the database, and then the rest at once, each within 15 s. */
const TIMEOUT_MS = 60_000

export const doctor: CliCommand = {
  name: 'doctor',
  summary: 'Check the database, the object store and the rest, and print problems with what to do',
  options: [flagOption('--strict', 'fail for warnings, too')],
  async run(call) {
    const options = { timeoutMs: TIMEOUT_MS }
    try {
      return told(await call.service.portalAs(Diagnosis, 'GET', '/diagnosis', options), call)
    } catch (error) {
      if (!canLookFromHere(error, call)) throw error
      return told(await diagnosisOfStopped(error, call), call)
    }
  },
}

/** Not where the service answered, or is elsewhere. */
const canLookFromHere = (error: unknown, { args }: Invocation): error is CommandError =>
  error instanceof CommandError &&
  !(error instanceof ServiceRefusal) &&
  args.text('url') === undefined &&
  args.text('operatorUrl') === undefined

/** What prevents a start, as far as it can be seen with the environment of this command. */
async function diagnosisOfStopped(
  { message }: CommandError,
  { env }: Invocation,
): Promise<Static<typeof Diagnosis>> {
  const service: Static<typeof Finding> = {
    part: 'service',
    level: 'problem',
    says: message,
    advice:
      'Start it, or see in its log why it does not; run this with the environment of the service',
  }
  const findings = [service, ...(await findingsOfStopped(env))]
  return { status: 'not running', checks: {}, walls: [], findings }
}

async function findingsOfStopped(env: Invocation['env']): Promise<Static<typeof Finding>[]> {
  try {
    const settings = loadConfig(env)
    // A static import would make every other command load the clients of all that is tried.
    const { createLogger } = await import('#platform/log/create-logger.ts')
    const { examineStopped } = await import('#platform/diagnosis/examine-stopped.ts')
    const logger = createLogger({ logLevel: 'silent' }, process.stderr)
    return [...(await examineStopped({ ...settings, logger }))]
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    const advice = 'The service does not start with these settings'
    return [{ part: 'configuration', level: 'problem', says: error.message, advice }]
  }
}

function told(diagnosis: Static<typeof Diagnosis>, { args }: Invocation): CommandResult {
  const { status, checks, walls, findings } = diagnosis
  const isJail = walls.every(({ stands, needed }) => stands || !needed)
  const count = (level: string) => findings.filter((one) => one.level === level).length
  const [problems, warnings] = [count('problem'), count('warning')]
  const sections = [
    section(
      'The service:',
      Object.entries(checks).map(([part, check]) =>
        line(MARKS[check === 'ok' ? 'ok' : 'problem'], part, check === 'ok' ? 'answers' : check),
      ),
    ),
    section('What runs site code:', walls.map(wallLine)),
    section('What was tried and looked at:', findings.map(findingLine)),
    [`${counted(problems, 'problem')}, ${counted(warnings, 'warning')}`],
  ]
  return {
    json: diagnosis,
    text: sections
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join('\n'))
      .join('\n\n'),
    failed: status !== 'ready' || !isJail || problems > 0 || (args.flag('strict') && warnings > 0),
  }
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, ...lines]

function wallLine({
  wall,
  stands,
  reason,
  needed,
}: Static<typeof Diagnosis>['walls'][number]): string {
  const meaning = MEANINGS[wall] ?? wall
  const text = stands ? meaning : `${reason ?? 'unknown'} (else it ${meaning})`
  const advice = stands || needed ? null : (WALL_ADVICE[wall] ?? null)
  return line(stands ? MARKS.ok : MARKS.problem, wall, withAdvice(text, advice))
}

const findingLine = ({ part, level, says, advice }: Static<typeof Finding>): string =>
  line(MARKS[level], part, withAdvice(says, advice))

const withAdvice = (text: string, advice: string | null): string =>
  advice === null ? text : `${text}\n      ${advice}`

const line = (mark: string, name: string, text: string): string => `  ${mark} ${name}: ${text}`

const counted = (count: number, what: string): string =>
  `${count === 0 ? 'no' : count} ${what}${count === 1 ? '' : 's'}`
