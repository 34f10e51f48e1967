import type { Command } from './command.ts'
import { columns } from './table.ts'

const SERVE = {
  name: 'serve',
  summary: 'Run the service; on Bun unless told otherwise',
  usage: '[--on bun|node|deno]',
}

const COMMON = [
  ['--json', 'Print one JSON value on stdout'],
  ['--url URL', 'Where the service is; else CROFT_BASE_URL, PORT, or its data folder'],
  ['--operator-key KEY', 'Else CROFT_OPERATOR_KEY, or its data folder'],
]

/** All commands, or one of them. */
export function helpText(commands: readonly Command[], topic: string): string {
  const known = [SERVE, ...commands]
  const chosen = known.filter(({ name }) => topic !== '' && name.startsWith(topic))
  const listed = chosen.length === 0 ? known : chosen
  return [
    'croft: a self-hosted backend for many websites on one installation',
    '',
    ...listed.flatMap(({ name, summary, usage }) => [
      `  croft ${name} ${usage}`.trimEnd(),
      `      ${summary}`,
    ]),
    '',
    columns(COMMON.map((row) => ['  ' + (row[0] ?? ''), row[1] ?? ''])),
  ].join('\n')
}

/** The usage line of a command that was called wrongly. */
export const usageLine = ({ name, usage }: Pick<Command, 'name' | 'usage'>): string =>
  `usage: croft ${name} ${usage}`.trimEnd()
