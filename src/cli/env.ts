import { Type } from '@sinclair/typebox'

import { columns, printable } from './columns.ts'
import {
  type Arguments,
  type CliCommand,
  type CommandResult,
  type Invocation,
  choiceOption,
  textOption,
} from './command.ts'
import { CommandError } from './errors.ts'
import { namedInput } from './named-file.ts'
import { askedText } from './passphrase.ts'
import { sitePath } from './service-client.ts'
import { syncFault, waitForSync } from './site-runtime.ts'

const EnvVarPage = Type.Object({
  items: Type.Array(
    Type.Object({
      name: Type.String(),
      secret: Type.Boolean(),
      value: Type.Optional(Type.String()),
    }),
  ),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

const path = ({ word }: Arguments): string => sitePath(word, '/env-vars')

export const envList: CliCommand = {
  name: 'env list',
  summary: 'List the environment variables of a site’s functions; values of secrets are not shown',
  words: ['DOMAIN'],
  deployToken: true,
  options: [],
  async run({ args, service }) {
    const items = await service.portalItems(EnvVarPage, path(args))
    const rows = items.map(({ name, value }) => [name, value ?? '(secret)'].map(printable))
    return {
      json: { items, nextToken: null },
      text: rows.length === 0 ? 'No variable yet: croft env set' : columns(rows),
    }
  },
}

export const envSet: CliCommand = {
  name: 'env set',
  summary: 'Set an environment variable; its value is asked for, or read from a file',
  words: ['DOMAIN', 'NAME'],
  deployToken: true,
  options: [
    textOption(
      '--file <file>',
      'a file with the value, - for stdin; one line break at its end is left out',
    ),
    choiceOption(
      '--secret <switch>',
      ['on', 'off'],
      'whether the value is never shown again; a new variable is secret by default',
    ),
  ],
  async run(call) {
    const { args, service } = call
    const name = args.second ?? ''
    const secret = args.text('secret')
    const known = (await service.portalItems(EnvVarPage, path(args))).find(
      (variable) => variable.name === name,
    )
    const isSecret = secret === undefined ? (known?.secret ?? true) : secret === 'on'
    const value = await valueOf(args, name)
    const variables = { [name]: { value, secret: isSecret } }
    return changed(call, variables, { done: `Set ${name}`, after: 'Functions see it now' })
  },
}

export const envUnset: CliCommand = {
  name: 'env unset',
  summary: 'Delete an environment variable',
  words: ['DOMAIN', 'NAME'],
  deployToken: true,
  options: [],
  async run(call) {
    const { args, service } = call
    const name = args.second ?? ''
    const items = await service.portalItems(EnvVarPage, path(args))
    if (!items.some((variable) => variable.name === name)) {
      throw new CommandError(
        `There is no variable "${name}": "croft env list ${args.word}" lists them`,
      )
    }
    const variables = { [name]: { value: null } }
    const words = { done: `Deleted ${name}`, after: 'Functions no longer see it' }
    return changed(call, variables, words)
  },
}

/** Never an argument: those are in the list of processes and in the shell's history. */
async function valueOf(args: Arguments, name: string): Promise<string> {
  const file = args.text('file')
  if (file === undefined)
    return askedText(
      `Value of ${name}: `,
      'No terminal to ask for the value at: give it with --file',
    )
  const text = await namedInput(file)
  return text.replace(/\r?\n$/, '')
}

async function changed(
  call: Invocation,
  variables: object,
  { done, after }: { readonly done: string; readonly after: string },
): Promise<CommandResult> {
  const { args, service } = call
  await service.portal('PUT', path(args), { body: { variables } })
  const fault = syncFault(await waitForSync(call, args.word))
  return {
    json: { names: Object.keys(variables), published: fault === undefined },
    text: fault === undefined ? `${done}. ${after}.` : `${done}, but ${fault}`,
    failed: fault !== undefined,
  }
}
