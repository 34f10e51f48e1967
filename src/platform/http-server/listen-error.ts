import { codeOf } from '#base/error-code.ts'
import { SetupError } from '#config/setup-error.ts'

type Reason = 'taken' | 'forbidden' | 'foreign'

const REASONS: Readonly<Record<string, Reason>> = {
  EADDRINUSE: 'taken',
  EACCES: 'forbidden',
  EADDRNOTAVAIL: 'foreign',
  ENOTFOUND: 'foreign',
}

/** The words for an address that cannot be listened on; anything else stays what it is. */
export function listenError(error: unknown, hostname: string, port: number): unknown {
  const reason = reasonOf(error)
  return reason === undefined
    ? error
    : new SetupError(messageOf(reason, hostname, port), { cause: error })
}

function messageOf(reason: Reason, hostname: string, port: number): string {
  switch (reason) {
    case 'taken':
      return `Port ${port} on ${hostname} is in use: stop the program that listens there, or choose another with PORT`
    case 'forbidden':
      return `Port ${port} on ${hostname} is not for this user: choose one above 1023 with PORT`
    case 'foreign':
      return `This machine has no address "${hostname}" to listen on: give one that it has with HOST, or 0.0.0.0 for all`
  }
}

const reasonOf = (error: unknown): Reason | undefined => REASONS[codeOf(error) ?? '']
