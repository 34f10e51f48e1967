import { Help, Option } from 'commander'

import { RequiredOption, type ShownCommand } from './command.ts'

/** A command in `command-list.json`: all that help shows of it. */
interface ListedCommand extends Omit<ShownCommand, 'options'> {
  readonly options: readonly ListedOption[]
}

interface ListedOption {
  readonly flags: string
  readonly description: string
  readonly isRequired?: boolean
}

/** The command as help shows it. Its options are not parsed by it. */
export const shownAs = ({ options, ...command }: ListedCommand): ShownCommand => ({
  ...command,
  options: options.map(({ flags, description, isRequired }) =>
    isRequired === true ? new RequiredOption(flags, description) : new Option(flags, description),
  ),
})

/** What the list says of a command. */
export function listedAs(command: ShownCommand): ListedCommand {
  const { name, summary, words, wordOption, deployToken, isProcess, isDefault } = command
  const help = new Help()
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => ({
      flags: option.flags,
      description: help.optionDescription(option),
      ...(option instanceof RequiredOption && { isRequired: true }),
    }))
  const rest = { words, wordOption, deployToken, isProcess, isDefault }
  const said = Object.entries(rest).filter(([, value]) => value !== undefined)
  return { name, summary, ...Object.fromEntries(said), options }
}
