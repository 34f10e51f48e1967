import { type CliCommand, textOption } from './command.ts'
import { CommandError } from './errors.ts'

/** Explains it only: `bin/croft.js` becomes the service itself. */
export const serve: CliCommand = {
  name: 'serve',
  summary: 'Run the service; on Bun by default',
  isProcess: true,
  options: [textOption('--on <runtime>', 'bun, node or deno')],
  run() {
    throw new CommandError('bin/croft.js runs the service')
  },
}
