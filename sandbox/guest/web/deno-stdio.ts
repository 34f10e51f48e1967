import { console } from './console.ts'
import { endsWith, PromiseClass, slice } from './primordials.ts'
import { decodeUtf8 } from './utf8.ts'

const log = console['info'] as (text: string) => void
const logError = console['error'] as (text: string) => void

/** `Deno.stdout` and `Deno.stderr`: what is written at once is one entry of the log. */
export function outputOf(level: 'info' | 'error'): object {
  const print = level === 'info' ? log : logError
  const writeSync = (bytes: Uint8Array): number => {
    const text = decodeUtf8(bytes)
    print(endsWith(text, '\n') ? slice(text, 0, -1) : text)
    return bytes.byteLength
  }
  return Object.freeze({
    write: (bytes: Uint8Array): Promise<number> =>
      new PromiseClass((resolve) => resolve(writeSync(bytes))),
    writeSync,
    isTerminal: (): boolean => false,
    close: (): void => {},
  })
}

/** It is at its end. */
export const stdin: object = Object.freeze({
  read: (): Promise<null> => new PromiseClass((resolve) => resolve(null)),
  readSync: (): null => null,
  isTerminal: (): boolean => false,
  close: (): void => {},
})
