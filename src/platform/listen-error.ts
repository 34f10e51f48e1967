import { codeOf } from '#base/error-code.ts'
import { SetupError } from '#config/setup-error.ts'

/** Where a server was to listen, and the names of the settings that say so. */
export interface ListenPlace {
  readonly hostname: string
  readonly port: number
  readonly settings: { readonly host: string; readonly port: string }
}

/** Says what to do about an address that cannot be listened on; any other error stays what it is. */
export function listenError(error: unknown, place: ListenPlace): unknown {
  const message = listenAdvice(codeOf(error) ?? '', place)
  return message === undefined ? error : new SetupError(message, { cause: error })
}

function listenAdvice(code: string, { hostname, port, settings }: ListenPlace): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${hostname} is in use: stop the program that listens there, or choose another with ${settings.port}`
    case 'EACCES':
      return `Port ${port} on ${hostname} is not for this user: choose one above 1023 with ${settings.port}`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address "${hostname}" to listen on: give one that it has with ${settings.host}, or 0.0.0.0 for all`
    default:
      return undefined
  }
}
