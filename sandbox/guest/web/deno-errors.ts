import { defineProperty } from './primordials.ts'

const NAMES =
  `NotFound PermissionDenied ConnectionRefused ConnectionReset ConnectionAborted NotConnected
AddrInUse AddrNotAvailable BrokenPipe AlreadyExists InvalidData TimedOut Interrupted WriteZero WouldBlock
UnexpectedEof BadResource Http Busy NotSupported FilesystemLoop IsADirectory NetworkUnreachable NotADirectory
NotCapable`.split(/\s+/)

/** `Deno.errors`: each is an Error under its own name. */
export const denoErrors: Readonly<Record<string, ErrorConstructor>> = Object.fromEntries(
  NAMES.map((name) => [name, errorClass(name)]),
)

/** An error of `Deno.errors`; `code` is that of the operating system. */
export function denoError(name: string, message: string, code?: string): Error {
  const ErrorOf = denoErrors[name] ?? Error
  const error = new ErrorOf(message)
  if (code !== undefined)
    defineProperty(error, 'code', {
      value: code,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  return error
}

function errorClass(name: string): ErrorConstructor {
  const made = class extends Error {
    constructor(message?: string, options?: ErrorOptions) {
      super(message, options)
      defineProperty(this, 'name', {
        value: name,
        writable: true,
        enumerable: true,
        configurable: true,
      })
    }
  }
  defineProperty(made, 'name', { value: name, configurable: true })
  return made as unknown as ErrorConstructor
}
