import { listedAs } from '#cli/command-listing.ts'
import type { ShownCommand } from '#cli/command.ts'
import { listedCommands } from '#cli/commands.ts'
import { headingId } from '#scripts/docs/heading-ids.ts'

interface CommandPage {
  readonly file: string
  readonly title: string
  /** First words of its commands. */
  readonly groups: readonly string[]
}

const PAGES: readonly CommandPage[] = [
  {
    file: 'commands-installation.md',
    title: 'Commands: the installation',
    groups: ['serve', 'migrate', 'doctor', 'backup', 'restore'],
  },
  {
    file: 'commands-mail.md',
    title: 'Commands: mail',
    groups: ['mailbox', 'alias', 'contact-recipient', 'forwarding', 'mail', 'outbox'],
  },
  {
    file: 'commands-people.md',
    title: 'Commands: people',
    groups: ['auth', 'client', 'users', 'sessions', 'second-factor', 'audit', 'token', 'keys'],
  },
]
/** Takes what no other page has. */
const SITES: CommandPage = { file: 'commands-sites.md', title: 'Commands: sites', groups: [] }

const INTRO =
  '`croft help` lists all commands, `croft help site create` the options of one. Each takes `--json`, and `--url` or `--operator-url` where the service runs elsewhere.'

/** The pages of all commands, from their declarations, by file. */
export function commandPages(): ReadonlyMap<string, string> {
  const commands = listedCommands()
  const pages = [...PAGES, SITES].map((page) => {
    const own = commands.filter((command) => pageOf(command) === page)
    return [page.file, `# ${page.title}\n\n${INTRO}\n\n${own.map(sectionOf).join('\n')}`] as const
  })
  return new Map([['commands.md', indexOf(commands)], ...pages])
}

const pageOf = ({ name }: ShownCommand): CommandPage =>
  PAGES.find(({ groups }) => groups.includes(name.split(' ', 1)[0] ?? '')) ?? SITES

function indexOf(commands: readonly ShownCommand[]): string {
  const lines = commands.map((command) => {
    const { file } = pageOf(command)
    return `- [\`${usageOf(command)}\`](${file}#${anchorOf(command)}): ${markdown(command.summary)}`
  })
  return `# Commands\n\n${INTRO}\n\n${lines.join('\n')}\n`
}

function sectionOf(command: ShownCommand): string {
  const options = listedAs(command).options.map(
    ({ flags, description, isRequired }) =>
      `- \`${flags}\`: ${markdown(description)}${isRequired === true ? ' (required)' : ''}`,
  )
  const lines = [`## ${usageOf(command)}`, `${markdown(command.summary)}.`]
  return `${[...lines, ...(options.length === 0 ? [] : [options.join('\n')])].join('\n\n')}\n`
}

const usageOf = ({ name, words = [] }: ShownCommand): string => ['croft', name, ...words].join(' ')

const anchorOf = (command: ShownCommand): string => headingId(usageOf(command))

/** Text in which no sign is Markdown’s. */
const markdown = (text: string): string => text.replaceAll(/[<>*]|\b_\B|\B_\b/g, String.raw`\$&`)
