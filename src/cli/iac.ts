import { readFile } from 'node:fs/promises'
import { text as textOf } from 'node:stream/consumers'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { isJsonObject } from '#base/json-object.ts'
import { parseDefinitionJson } from '#runtime/definitions/definition-json.ts'

import { columns, printable } from './columns.ts'
import {
  type CliCommand,
  type CommandResult,
  type Invocation,
  YES_OPTIONS,
  isAgreed,
  textOption,
} from './command.ts'
import { DefinitionJob, watchJob } from './definition-progress.ts'
import { CommandError, ServiceRefusal } from './errors.ts'
import { sitePath } from './service-client.ts'
import { syncFault, waitForSync } from './site-runtime.ts'

type Mode = 'plan' | 'apply' | 'replace'

const DEFAULT_FILE = 'croft.json'

const Submitted = Type.Object({ jobId: Type.String() })
/** The job as the service returns it. `--json` prints all of it. */
const Job = Type.Intersect([DefinitionJob, Type.Record(Type.String(), Type.Unknown())])
type Job = Static<typeof Job>

const Unconfirmed = Type.Object({
  code: Type.Literal('ConfirmationRequired'),
  deletions: Type.Array(
    Type.Object({
      section: Type.String(),
      name: Type.String(),
      items: Type.Optional(Type.Integer()),
      objects: Type.Optional(Type.Integer()),
      bytes: Type.Optional(Type.Integer()),
      atLeast: Type.Optional(Type.Boolean()),
    }),
  ),
})

const Definition = Type.Record(Type.String(), Type.Array(Type.Unknown()))

const FILE_OPTIONS = [
  textOption('--file <file>', `the definition, ${DEFAULT_FILE} here by default; - for stdin`),
]

export const iacPlan: CliCommand = {
  name: 'iac plan',
  summary: 'Show what a definition would change; only replace does the deletions (-)',
  deployToken: true,
  words: ['DOMAIN'],
  wordOption: 'site',
  options: FILE_OPTIONS,
  run: (call) => carryOut(call, 'plan'),
}

export const iacApply: CliCommand = {
  name: 'iac apply',
  summary: `Apply a definition (${DEFAULT_FILE} here, or a file, or stdin): create and update what it names`,
  deployToken: true,
  words: ['DOMAIN'],
  wordOption: 'site',
  options: FILE_OPTIONS,
  run: (call) => carryOut(call, 'apply'),
}

export const iacReplace: CliCommand = {
  name: 'iac replace',
  summary:
    'Apply a definition and delete what it does not name; without --yes, list the deletions only',
  deployToken: true,
  words: ['DOMAIN'],
  wordOption: 'site',
  options: [...FILE_OPTIONS, ...YES_OPTIONS],
  run: (call) => carryOut(call, 'replace'),
}

export const iacExport: CliCommand = {
  name: 'iac export',
  summary:
    'Export the definition of a site as a croft.json; secrets are named without their values',
  deployToken: true,
  words: ['DOMAIN'],
  wordOption: 'site',
  options: [],
  async run({ args, service }) {
    const path = sitePath(args.word, '/iac/export')
    const definition = await service.portalAs(Definition, 'GET', path)
    return { json: definition, text: JSON.stringify(definition, null, 2) }
  },
}

async function carryOut(call: Invocation, mode: Mode): Promise<CommandResult> {
  const { args, service } = call
  const site = args.word
  const definition = await definitionIn(args.text('file') ?? DEFAULT_FILE)
  const body = { mode, definition, ...(isAgreed(args) ? { confirm: true } : {}) }
  const { jobId } = await service
    .portalAs(Submitted, 'POST', sitePath(site, '/iac/jobs'), { body })
    .catch((error: unknown) => {
      throw toldWhatGoes(site, error)
    })
  const path = sitePath(site, `/iac/jobs/${jobId}`)
  const read = async () => await service.portalAs(Job, 'GET', path)
  const job = await watchJob(call, mode, read)
  const text = jobText(job, mode, site)
  if (mode === 'plan' || job.status !== 'succeeded') {
    return { json: job, text, failed: job.status !== 'succeeded' }
  }
  const permissionsSync = await waitForSync(call, site)
  const fault = syncFault(permissionsSync)
  return {
    json: { ...job, permissionsSync },
    text: fault === undefined ? text : `${text}\nBut ${fault}`,
    failed: fault !== undefined,
  }
}

async function definitionIn(file: string): Promise<unknown> {
  const name = file === '-' ? 'stdin' : `the file "${file}"`
  const text = await (file === '-' ? textOf(process.stdin) : readFile(file, 'utf8')).catch(
    (cause: unknown) => {
      throw new CommandError(`${name} cannot be read: name the definition with --file`, { cause })
    },
  )
  try {
    const value: unknown = parseDefinitionJson(text)
    if (!isJsonObject(value)) return value
    // How public files are served is of the deployment whose file this is.
    const { static: _static, ...definition } = value
    return definition
  } catch (cause) {
    // What a parser says repeats the text, which may hold a secret.
    throw new CommandError(`${name} is not valid JSON`, { cause })
  }
}

/** Turns the refusal of an unconfirmed replace into the list of what it would delete. */
function toldWhatGoes(site: string, error: unknown): unknown {
  if (!(error instanceof ServiceRefusal) || !Value.Check(Unconfirmed, error.error)) return error
  const rows = error.error.deletions.map(({ section, name, ...contents }) => [
    '  -',
    section,
    printable(name),
    contentsWords(contents),
  ])
  return new CommandError(
    `this would delete from ${site}:\n${columns(rows)}\nNothing was changed. Say --yes to agree.`,
  )
}

/** What goes with a table or bucket, as far as it was counted. */
function contentsWords({
  items,
  objects,
  bytes,
  atLeast,
}: Omit<Static<typeof Unconfirmed>['deletions'][number], 'section' | 'name'>): string {
  const most = atLeast === true ? 'at least ' : ''
  if ((items ?? objects ?? 0) === 0) return ''
  if (items !== undefined) return `${most}${items} ${items === 1 ? 'item' : 'items'}`
  return `${most}${objects} ${objects === 1 ? 'object' : 'objects'}, ${bytes ?? 0} bytes`
}

const SIGNS: Readonly<Record<string, string>> = {
  create: '+',
  update: '~',
  rename: '>',
  delete: '-',
}

function remarkOn(change: Job['summary']['changes'][number]): string {
  const { action, error, note, renamedFrom, fields = [] } = change
  const from = action === 'rename' && renamedFrom !== undefined ? [`from ${renamedFrom}`] : []
  return error ?? note ?? [...from, ...fields].join(' ')
}

function jobText({ jobId, status, error, summary }: Job, mode: Mode, site: string): string {
  const rows = summary.changes
    .filter((change) => change.status !== 'unchanged')
    .map((change) => [
      SIGNS[change.action] ?? '',
      change.section,
      printable(change.name),
      change.status,
      printable(remarkOn(change)),
    ])
  const counts = ['created', 'updated', 'renamed', 'deleted', 'unchanged', 'failed'] as const
  const told = counts.filter((count) => count !== 'renamed' || summary.renamed > 0)
  const words = told.map((count) => `${summary[count]} ${count}`).join(', ')
  const head = mode === 'plan' ? `Plan for ${site}` : `${mode} of ${site} ${status}`
  const reason = error === null ? [] : [printable(error)]
  return [
    ...(rows.length === 0 ? [] : [columns(rows)]),
    `${head}: ${words} (${jobId})`,
    ...reason,
  ].join('\n')
}
