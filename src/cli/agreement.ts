import { createInterface } from 'node:readline/promises'

import { type Arguments, isAgreed } from './command.ts'
import { CommandError, UsageError } from './errors.ts'

/** Returns when the caller agrees, by `--yes` or at the terminal. `loss` is a clause: "this removes …". */
export async function requireAgreement(args: Arguments, loss: string): Promise<void> {
  if (isAgreed(args)) return
  if (!process.stdin.isTTY) throw new UsageError(`${loss} permanently: add --yes`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''))
    terminal.question(`${loss} permanently. Type "yes" to go on: `).then(resolve, () => resolve(''))
  })
  terminal.close()
  if (answer.trim().toLowerCase() !== 'yes') throw new CommandError('Nothing was changed')
}
