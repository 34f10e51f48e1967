import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

import { type Arguments, textOption } from './command.ts'
import { CommandError } from './errors.ts'
import { namedText } from './named-file.ts'

export const PASSPHRASE_OPTION = textOption(
  '--passphrase-file <file>',
  'a file with the passphrase of the archive; else CROFT_ARCHIVE_PASSPHRASE, or it is asked for',
)

/** Never an argument: those are in the list of processes and in the shell's history. Undefined without one. */
export async function givenPassphrase(
  args: Arguments,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const file = args.text('passphraseFile')
  if (file === undefined) return env['CROFT_ARCHIVE_PASSPHRASE'] || undefined
  const text = await namedText(file)
  // An editor ends a file with a line break.
  const passphrase = text.replace(/\r?\n$/, '')
  if (passphrase === '') throw new CommandError(`The file "${file}" holds no passphrase`)
  return passphrase
}

export const askedPassphrase = (question: string): Promise<string> =>
  askedText(
    question,
    'The archive needs a passphrase: give a file with --passphrase-file, or set CROFT_ARCHIVE_PASSPHRASE',
  )

/** Asks at the terminal, without showing what is typed. Throws `elsewhere` where there is none. */
export async function askedText(question: string, elsewhere: string): Promise<string> {
  if (!process.stdin.isTTY) throw new CommandError(elsewhere)
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}
